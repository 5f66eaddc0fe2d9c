import { mostSkipped, toPage } from './layout.ts'
import { type Watched, watch } from './refresh.ts'
import { toText } from './styled-line.ts'
import { type Key, openTerminal } from './terminal.ts'

/** The admin port to scrape, and the interval. */
export interface Watching {
  /** The origin of the admin port. */
  readonly admin: string
  readonly everyMs: number
}

/** Shows the screen on this terminal until the user quits, or `stop` is aborted. */
export const showLive = async ({ admin, everyMs }: Watching, stop: AbortController): Promise<void> => {
  let watched: Watched = { view: undefined, trouble: undefined }
  let skipped = 0
  const hasColours = !process.env.NO_COLOR // https://no-color.org
  const title = `${admin}  every ${everyMs / 1000}s  q quits`

  const draw = (): void => {
    const { columns, rows } = screen.size()
    const size = { columns, rows: rows - 1 }
    skipped = Math.max(0, Math.min(skipped, mostSkipped({ ...watched, title, skipped }, size)))
    screen.draw(toPage({ ...watched, title, skipped }, size).map(line => toText(line, columns, hasColours)))
  }
  const onKey = (key: Key): void => {
    if (key === 'quit') {
      stop.abort()
      return
    }
    skipped = move(skipped, key, screen.size().rows)
    draw()
  }
  const input = process.stdin.isTTY ? process.stdin : undefined
  const screen = openTerminal(process.stdout, input, { onKey, onResize: draw })
  try {
    draw()
    for await (const state of watch(admin, everyMs, stop.signal)) {
      watched = state
      draw()
    }
  } finally {
    screen.close()
  }
}

/** The number of groupings above the screen after a key was pressed. */
const move = (skipped: number, key: Exclude<Key, 'quit'>, rows: number): number => {
  switch (key) {
    case 'up':
      return skipped - 1
    case 'down':
      return skipped + 1
    case 'pageUp':
      return skipped - Math.ceil(rows / 2)
    case 'pageDown':
      return skipped + Math.ceil(rows / 2)
    case 'first':
      return 0
    case 'last':
      return Infinity
  }
}
