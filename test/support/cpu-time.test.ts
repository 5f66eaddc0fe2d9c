import { spawn } from 'node:child_process'
import t from 'tap'
import { cpuTimeUs, parseCpuTimeUs } from './cpu-time.ts'
import { eventually } from './eventually.ts'

t.test('the time in user mode and in the kernel are added, whatever the program is called', async t => {
  const statOf = (name: string): string => `12 (${name}) S 1 2 3 0 -1 4194304 98 0 0 0 150 25 7000 9000 20 0 1 0 58815`

  t.equal(parseCpuTimeUs(statOf('node')), 1_750_000)
  t.equal(parseCpuTimeUs(statOf('a (b) c) R 9 9')), 1_750_000)
})

t.test('what a process has started counts with it', async t => {
  const idle = spawn('sh', ['-c', "sh -c 'while :; do :; done' & trap 'kill $!' TERM; wait"])
  t.teardown(() => idle.kill())

  await eventually(() => cpuTimeUs(idle.pid ?? 0) >= 100_000)
})
