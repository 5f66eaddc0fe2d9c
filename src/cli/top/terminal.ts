import type { ReadStream, WriteStream } from 'node:tty'
import type { Size } from './layout.ts'

/** The commands of a user at the terminal. */
export type Key = 'quit' | 'up' | 'down' | 'pageUp' | 'pageDown' | 'first' | 'last'

/** A terminal in raw mode, with its alternate screen, without cursor; keys are read one by one. */
export interface Terminal {
  size(): Size
  /** @param lines at most as wide as the screen, and one less than it is high */
  draw(lines: readonly string[]): void
  /** Restores the terminal. */
  close(): void
}

interface Hearing {
  readonly onKey: (key: Key) => void
  readonly onResize: () => void
}

/** @param input undefined if there is no keyboard */
export const openTerminal = (output: WriteStream, input: ReadStream | undefined, throttle: Hearing): Terminal => {
  const hear = (chunk: Buffer): void => {
    for (const name of keysIn(chunk.toString())) throttle.onKey(name)
  }
  const restore = (): void => void output.write(leave)
  // Also restores the terminal after an exception, because otherwise its cursor would remain hidden.
  process.once('exit', restore)
  output.on('resize', throttle.onResize)
  output.write(enter)
  input?.setRawMode(true).on('data', hear)
  return {
    size: () => ({ columns: output.columns || usual.columns, rows: output.rows || usual.rows }),
    draw: lines => void output.write(home + lines.map(line => clearLine + line).join('\r\n') + clearBelow),
    close() {
      process.off('exit', restore)
      output.off('resize', throttle.onResize)
      input?.off('data', hear).setRawMode(false).pause()
      restore()
    },
  }
}

/** The size of a terminal that does not report it. */
const usual: Size = { columns: 80, rows: 24 }

const esc = '\u001b'
/** The sequences of xterm and its successors: the alternate screen, then the cursor. */
const enter = `${esc}[?1049h${esc}[?25l`
const leave = `${esc}[?25h${esc}[?1049l`
/** ECMA-48 section 8.3.21 (CUP), 8.3.41 (EL), 8.3.39 (ED). */
const home = `${esc}[H`
const clearLine = `${esc}[K`
const clearBelow = `\r\n${esc}[J`

/** A chunk contains several keys if one is held down. */
const keysIn = (chunk: string): readonly Key[] =>
  chunk.split(new RegExp(`(${esc}(?:\\[[\\d;]*[A-Za-z~]|O[A-Z]))|`)).flatMap(sequence => keys.get(sequence ?? '') ?? [])

const keys: ReadonlyMap<string, Key> = new Map([
  ['q', 'quit'],
  ['Q', 'quit'],
  // Ctrl-C and Ctrl-\, which send no signals in raw mode.
  ['\u0003', 'quit'],
  ['\u001c', 'quit'],
  [`${esc}[A`, 'up'],
  [`${esc}OA`, 'up'],
  ['k', 'up'],
  [`${esc}[B`, 'down'],
  [`${esc}OB`, 'down'],
  ['j', 'down'],
  [`${esc}[5~`, 'pageUp'],
  [`${esc}[6~`, 'pageDown'],
  [' ', 'pageDown'],
  [`${esc}[H`, 'first'],
  ['g', 'first'],
  [`${esc}[F`, 'last'],
  ['G', 'last'],
])
