import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { usableCpus } from '../../../src/config/values/machine.ts'
import { makeFolder } from '../support.ts'

t.test('without a quota every CPU is used', async t => {
  const folder = makeFolder(t)

  t.equal(usableCpus(folder), availableParallelism())
  writeFileSync(join(folder, 'cpu.max'), 'max 100000\n')
  t.equal(usableCpus(folder), availableParallelism())
})

t.test('a quota of control groups v2 limits the number of CPUs, and at least one is left', async t => {
  const folder = makeFolder(t)

  writeFileSync(join(folder, 'cpu.max'), '150000 100000\n')
  t.equal(usableCpus(folder), 1)
  writeFileSync(join(folder, 'cpu.max'), '50000 100000\n')
  t.equal(usableCpus(folder), 1)
})

t.test('a quota of control groups v1 limits the number of CPUs', async t => {
  const folder = makeFolder(t)
  mkdirSync(join(folder, 'cpu'))
  writeFileSync(join(folder, 'cpu/cpu.cfs_period_us'), '100000\n')

  writeFileSync(join(folder, 'cpu/cpu.cfs_quota_us'), '100000\n')
  t.equal(usableCpus(folder), 1)
  writeFileSync(join(folder, 'cpu/cpu.cfs_quota_us'), '-1\n')
  t.equal(usableCpus(folder), availableParallelism())
})
