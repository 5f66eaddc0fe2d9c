import { execFileSync, fork } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createTextFiles, readTextFile, readTextFileSync, stateOfFile } from '../../src/files/text-file.ts'

const makePipe = (path: string): string => {
  execFileSync('mkfifo', [path])
  return path
}

t.test('only a regular file is read, also through a link', async t => {
  const folder = t.testdir({ file: 'text', folder: {} })
  symlinkSync('file', join(folder, 'link'))
  const pipe = makePipe(join(folder, 'pipe'))
  const large = join(folder, 'large')
  writeFileSync(large, '')
  truncateSync(large, 64 * 1024 * 1024 + 1)
  for (const name of ['file', 'link']) {
    t.equal(await readTextFile(join(folder, name)), 'text')
    t.equal(readTextFileSync(join(folder, name)), 'text')
  }

  for (const [path, code] of [
    [pipe, 'not a regular file'],
    ['/dev/zero', 'not a regular file'],
    [large, 'larger than 64 MiB'],
    [join(folder, 'folder'), 'EISDIR'],
    [join(folder, 'none'), 'ENOENT'],
  ] as const) {
    await t.rejects(readTextFile(path), { code }, path)
    t.throws(() => readTextFileSync(path), { code }, path)
    await t.rejects(createTextFiles().read(path), { code }, path)
  }
})

/** Swaps a regular file and a named pipe under one name, as fast as it can, until its IPC channel is closed. */
const swapper = `
const { linkSync, renameSync } = require('node:fs')
process.once('disconnect', () => process.exit())
const swap = () => {
  for (const name of ['pipe', 'file']) {
    linkSync(name, 'next')
    renameSync('next', 'now')
  }
  setImmediate(swap)
}
swap()
process.send('swapping')
`

t.test('a named pipe that replaces a file during a read does not block the read', async t => {
  const folder = t.testdir({ file: 'text', now: 'text', 'swapper.cjs': swapper })
  makePipe(join(folder, 'pipe'))
  const child = fork(join(folder, 'swapper.cjs'), { cwd: folder })
  await new Promise(resolve => child.once('message', resolve))
  const path = join(folder, 'now')
  const outcomes = new Map<string, number>()
  const note = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)

  while ((outcomes.get('text') ?? 0) < 200 || (outcomes.get('not a regular file') ?? 0) < 200)
    note(await readTextFile(path).catch(error => error.code))
  child.disconnect()
  await new Promise(resolve => child.once('exit', resolve))

  t.same(new Set(outcomes.keys()), new Set(['text', 'not a regular file']))
})

/** The bytes that this process has read by system calls. */
const readBytes = (): number => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])

t.test('a file is read again only if it has changed', async t => {
  const size = 1_000_000
  const folder = t.testdir({ file: 'a'.repeat(size) })
  const path = join(folder, 'file')
  const files = createTextFiles()
  const before = readBytes()
  for (let look = 0; look < 20; look++) t.equal((await files.read(path)).length, size)
  t.ok(readBytes() - before < 10 * size, `${readBytes() - before} bytes were read`)

  writeFileSync(path, 'b'.repeat(size))
  t.equal((await files.read(path))[0], 'b')
  mkdirSync(join(folder, 'other'))
  writeFileSync(join(folder, 'other', 'file'), 'c'.repeat(size))
  renameSync(join(folder, 'other', 'file'), path)
  t.equal((await files.read(path))[0], 'c')
  t.equal(await stateOfFile(path), await stateOfFile(path))
})
