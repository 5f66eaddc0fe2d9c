import { printErrorLine, printLine } from '../output.ts'
import type { Watching } from './interactive.ts'
import { toPage } from './layout.ts'
import { watch } from './refresh.ts'
import type { Snapshot } from './snapshot.ts'
import { toText } from './styled-line.ts'

/**
 * Prints all rows once, after one interval.
 * @throws Error one line with the reason why there is no data
 */
export const printOnce = async ({ admin, everyMs }: Watching, stop: AbortController): Promise<void> => {
  for await (const { view, trouble } of watch(admin, everyMs, stop.signal)) {
    if (trouble !== undefined) throw new Error(trouble)
    if (view) return printView(admin, view)
  }
}

/** Prints all rows after each interval, for a pipe or a file; failures are printed to standard error. */
export const printOn = async ({ admin, everyMs }: Watching, stop: AbortController): Promise<void> => {
  for await (const { view, trouble } of watch(admin, everyMs, stop.signal)) {
    if (trouble !== undefined) printErrorLine(`sidegate: ${trouble}; trying again`)
    else if (view) printView(admin, view)
  }
}

const everything = { columns: Infinity, rows: Infinity }

const printView = (admin: string, view: Snapshot): void => {
  const title = `${admin}  ${new Date().toISOString()}`
  const lines = toPage({ title, view, trouble: undefined, skipped: 0 }, everything)
  for (const line of [...lines, []]) printLine(toText(line, Infinity, false))
}
