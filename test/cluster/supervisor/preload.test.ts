import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'

/**
 * Run as a program of its own, which forks itself as `worker`: a worker says two things and lives on, or ends at once.
 * Prints what was taken over.
 */
const program = `
import cluster from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
const [role, what] = process.argv.slice(2)
if (cluster.isWorker) {
  if (process.env.DIES) process.exit(7)
  process.send({ type: 'loaded' })
  process.on('message', () => process.send({ type: 'started' }))
} else {
  const { preloadWorker } = await import('${join(import.meta.dirname, '../../../src/cluster/supervisor/preload.ts')}')
  const preloaded = preloadWorker()
  const [worker] = Object.values(cluster.workers)
  const gone = once(worker, 'exit')
  if (role === 'take') {
    await once(worker, 'message')
    const taken = preloaded.take()
    preloaded[Symbol.dispose]()
    taken.worker.send({})
    const [next] = await once(taken.worker, 'message')
    console.log(JSON.stringify([preloaded.slot, taken.received, next, preloaded.take() === undefined]))
    taken.worker.kill()
  } else if (role === 'dispose') {
    preloaded[Symbol.dispose]()
    console.log(JSON.stringify((await gone)[1]))
  } else {
    await gone
    console.log(JSON.stringify(preloaded.take() === undefined))
  }
}
`

const run = async (t: Test, role: string, env = {}): Promise<unknown> => {
  const file = join(t.testdir({ 'program.mjs': program }), 'program.mjs')
  const child = spawn(process.execPath, [file, role], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  })
  const texts: Buffer[] = []
  child.stdout.on('data', (text: Buffer) => texts.push(text))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`it ended with ${code}`)
  return JSON.parse(Buffer.concat(texts).toString())
}

t.test('a worker that was started before is handed over once, with what it has said', async t => {
  t.same(await run(t, 'take'), [0, [{ type: 'loaded' }], { type: 'started' }, true])
})

t.test('one that nobody takes ends, and holds nobody up', async t => {
  t.equal(await run(t, 'dispose'), 'SIGKILL')
})

t.test('one that has ended is not handed over', async t => {
  t.equal(await run(t, 'die', { DIES: 'yes' }), true)
})
