import { spawn } from 'node:child_process'
import { launcher } from '../run.ts'

/** A command on its own terminal, which `script` of util-linux creates. */
export interface Terminal {
  /** All output so far. */
  output(): string
  /** The lines of the screen as the last redraw wrote them. */
  screen(): readonly string[]
  type(keys: string): void
  /** Sets the width of the terminal in columns. */
  resize(columns: number): void
  kill(signal: NodeJS.Signals): void
  readonly exited: Promise<number | null>
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export const scriptProgram = '/usr/bin/script'

/** Runs `sidegate` on a terminal of 80 columns and 24 rows, until the command or the test ends. */
export const onTerminal = (t: Teardown, args: readonly string[], env: NodeJS.ProcessEnv = {}): Terminal => {
  const command = [process.execPath, launcher, ...args].map(word => `'${word}'`).join(' ')
  const inside = `echo $(tty) $$; stty cols 80 rows 24; exec ${command}`
  const child = spawn(scriptProgram, ['-qefc', inside, '/dev/null'], {
    env: { ...process.env, SHELL: '/bin/sh', TERM: 'xterm', NO_COLOR: '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  const exited = new Promise<number | null>(resolve => child.once('close', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const place = (): readonly string[] => output.split('\r\n')[0]?.split(' ') ?? []
  return {
    output: () => output,
    screen: () => (output.split('\u001b[H').at(-1) ?? '').split('\r\n').map(withoutCodes),
    type: keys => void child.stdin.write(keys),
    resize: columns => void spawn('stty', ['-F', place()[0] ?? '', 'cols', String(columns)]),
    kill: signal => void process.kill(Number(place()[1]), signal),
    exited,
  }
}

const esc = '\u001b'
const codes = new RegExp(`${esc}\\[[?\\d;]*[A-Za-z]`, 'g')

const withoutCodes = (line: string): string => line.replace(codes, '').trimEnd()
