import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'

/**
 * A program that forks itself as `worker`: the worker sends two messages and keeps running, or exits at once.
 * The program prints what it took over from the preloaded worker.
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

t.test('a preloaded worker is handed over once, with the messages that it has sent', async t => {
  t.same(await run(t, 'take'), [0, [{ type: 'loaded' }], { type: 'started' }, true])
})

t.test('a preloaded worker that is not taken is ended, and does not keep the process running', async t => {
  t.equal(await run(t, 'dispose'), 'SIGKILL')
})

t.test('a preloaded worker that has exited is not handed over', async t => {
  t.equal(await run(t, 'die', { DIES: 'yes' }), true)
})
