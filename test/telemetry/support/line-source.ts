/**
 * Writes numbered lines to its standard output, more than a pipe and the waiting buffer hold: `node line-source.ts LINES`.
 * Sends over IPC how long it took and, once the reader reads again, how many lines were dropped, as `onResume`
 * says and as the sum of `onDrop`; the sum also in answer to any message.
 */
import { createStdoutWriter } from '../../../src/telemetry/stdout-writer.ts'

const count = Number(process.argv[2])
let lost = 0
const lines = createStdoutWriter({
  onDrop: lines => {
    lost += lines
  },
  onResume: dropped => process.send?.({ dropped, lost }),
})
const startedAtMs = performance.now()
for (let i = 0; i < count; i++) lines.write(`${i} ${'x'.repeat(1000)}\n`)
process.send?.({ writtenInMs: performance.now() - startedAtMs })
// The channel keeps the process alive until the test lets it go; then the last lines go out.
process.once('disconnect', () => lines.flush())
process.channel?.ref()
process.on('message', () => process.send?.({ lost }, undefined, undefined, () => undefined))
