import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { startSidegate } from '../../support/sidegate.ts'

interface Thread {
  readonly name: string
  readonly nice: number
}

/** `man 5 proc_pid_stat`: the name is in parentheses, and the nice value is the 19th field. */
const threadsOf = (pid: number): readonly Thread[] =>
  readdirSync(`/proc/${pid}/task`).map(id => {
    const [, name = '', rest = ''] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8')) ?? []
    return { name, nice: Number(rest.split(' ')[16]) }
  })

t.test('in each worker one thread of V8 helps, and steps back for the one that serves', async t => {
  const sidegate = await startSidegate(t, { workers: 2 })
  const pids = sidegate.workerPids()
  t.equal(pids.length, 2)
  for (const pid of pids) {
    const helpers = (): readonly Thread[] => threadsOf(pid).filter(({ name }) => name.includes('V8Worker'))
    const others = threadsOf(pid).filter(({ name }) => !name.includes('V8Worker'))
    const nice = others[0]?.nice ?? Number.NaN
    await eventually(() => helpers()[0]?.nice === Math.min(19, nice + 4))

    t.equal(helpers().length, 1)
    t.ok(others.every(thread => thread.nice === nice))
  }
})
