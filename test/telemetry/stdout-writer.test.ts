import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, createReadStream, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'

const source = join(import.meta.dirname, 'support/line-source.ts')

/** A process that writes `lines` lines into a named pipe that has no reader yet. */
const startSource = (t: Test, lines: number) => {
  const pipe = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [pipe])
  // An open for both reading and writing does not wait for the other end.
  const fd = openSync(pipe, constants.O_RDWR)
  const child = spawn(process.execPath, [source, String(lines)], { stdio: ['ignore', fd, 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const said: { writtenInMs?: number; dropped?: number; lost?: number }[] = []
  child.on('message', message => void said.push(message as object))
  return {
    said,
    /** Reads all lines until the source has exited. */
    async readAll(): Promise<readonly string[]> {
      const reader = createInterface(createReadStream(pipe))
      closeSync(fd)
      const read: string[] = []
      reader.on('line', line => read.push(line))
      await eventually(() => said.some(({ dropped }) => dropped !== undefined))
      child.disconnect()
      await once(reader, 'close')
      return read
    },
  }
}

t.test(
  'a stalled reader does not block the writer: lines are buffered, then dropped and counted, and all are whole',
  async t => {
    const lines = 40_000
    const { said, readAll } = startSource(t, lines)
    await eventually(() => said.length === 1)
    t.ok(Number(said[0]?.writtenInMs) < 10_000, 'the writer did not wait for a reader')

    const read = await readAll()

    const dropped = Number(said[1]?.dropped)
    t.ok(dropped > 0)
    t.equal(said[1]?.lost, dropped, 'each line is counted when it is dropped')
    t.equal(read.length + dropped, lines)
    t.ok(
      read.every(line => /^\d+ x{1000}$/.test(line)),
      'every line is whole',
    )
    const numbers = read.map(line => Number.parseInt(line, 10))
    t.same(
      numbers.toSorted((a, b) => a - b),
      numbers,
      'in the order they were written',
    )
  },
)

t.test('each line that cannot be written to a full disk is counted, and the process continues', async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const child = spawn(process.execPath, [source, '100'], { stdio: ['ignore', full, 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  const said: { lost?: number; dropped?: number }[] = []
  child.on('message', message => void said.push(message as object))

  await eventually(() => {
    child.send('lost')
    return said.at(-1)?.lost === 100
  })
  child.disconnect()

  t.same(await exited, [0, null])
  t.ok(
    said.every(({ dropped }) => dropped === undefined),
    'no line has been written to the disk since',
  )
})
