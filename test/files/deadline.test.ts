import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { hasFilesUnderWay, withinDeadline } from '../../src/files/deadline.ts'
import { eventually } from '../support/eventually.ts'

const soon = 20

/** A named pipe without a writer: reading it blocks a helper thread, as a file system that hangs does. */
const makeBlocking = (folder: string, name: string): string => {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return path
}

/** Ends the read of a blocking file. */
const unblock = (path: string): void => writeFileSync(path, '')

t.test(
  'an operation that blocks fails for its caller, and no other one starts in its folder until it has ended',
  async t => {
    const folder = t.testdir({ file: 'text', other: { file: 'text' } })
    const blocking = makeBlocking(folder, 'pipe')
    let begun = 0
    const read = (path: string) => {
      begun += 1
      return readFile(path, 'utf8')
    }

    await t.rejects(
      withinDeadline(blocking, () => read(blocking), soon),
      { code: 'ETIMEDOUT' },
    )
    const beside = join(folder, 'file')
    await t.rejects(
      withinDeadline(beside, () => read(beside)),
      { code: 'ETIMEDOUT' },
    )
    t.equal(begun, 1)
    t.ok(hasFilesUnderWay())
    const elsewhere = join(folder, 'other', 'file')
    t.equal(await withinDeadline(elsewhere, () => read(elsewhere)), 'text')

    unblock(blocking)
    await eventually(() => !hasFilesUnderWay())
    t.equal(await withinDeadline(beside, () => read(beside)), 'text')
  },
)

t.test('files block at most two helper threads', async t => {
  const folder = t.testdir({ a: {}, b: {}, c: {}, d: { file: 'text' } })
  const pipes = ['a', 'b', 'c'].map(name => makeBlocking(join(folder, name), 'pipe'))
  const begun: string[] = []
  const tried = pipes.map(path =>
    withinDeadline(
      path,
      () => {
        begun.push(path)
        return readFile(path, 'utf8')
      },
      soon,
    ),
  )

  for (const { status } of await Promise.allSettled(tried)) t.equal(status, 'rejected')
  t.same(begun, pipes.slice(0, 2))
  const other = join(folder, 'd', 'file')
  const readOther = () => withinDeadline(other, () => readFile(other, 'utf8'))
  await t.rejects(readOther(), { code: 'ETIMEDOUT' })

  for (const path of begun) unblock(path)
  await eventually(() => !hasFilesUnderWay())
  t.equal(await readOther(), 'text')
})

const modules = pathToFileURL(join(import.meta.dirname, '../../src')).href

for (const how of ['process.exit(3)', 'process.kill(process.pid, "SIGTERM")', 'process.exitCode = 3']) {
  t.test(`the exit does not wait for a helper thread that is blocked: ${how}`, async t => {
    const folder = t.testdir({})
    const pipe = makeBlocking(folder, 'pipe')
    const program = join(folder, 'program.mjs')
    writeFileSync(
      program,
      `import { readFile } from 'node:fs/promises'
       import { exitWithoutHelperThreads, hasFilesUnderWay, withinDeadline } from '${modules}/files/deadline.ts'
       process.on('exit', exitWithoutHelperThreads)
       process.once('SIGTERM', () => process.exit(3))
       await withinDeadline('${pipe}', () => readFile('${pipe}'), ${soon}).catch(() => undefined)
       ${how}
       if (process.exitCode === 3 && hasFilesUnderWay()) process.exit()`,
    )
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'inherit', 'pipe'] })
    t.teardown(() => child.kill('SIGKILL'))
    let printed = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      printed += text
    })

    t.same(await once(child, 'close'), [3, null])
    t.equal(printed, '')
  })
}
