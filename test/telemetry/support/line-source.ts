/**
 * `node line-source.ts LINES` writes numbered lines to its standard output, more than a pipe and the writer's buffer
 * hold. It sends over IPC how long the writes took and, once the reader reads again, how many lines were dropped, both
 * as `onResume` reports it and as the sum of `onDrop`. It also sends the sum in answer to any message.
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
// The channel keeps the process running until the test disconnects it; then the last lines are written.
process.once('disconnect', () => lines.flush())
process.channel?.ref()
process.on('message', () => process.send?.({ lost }, undefined, undefined, () => undefined))
