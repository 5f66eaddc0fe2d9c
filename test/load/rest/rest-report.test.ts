import t from 'tap'
import { hasHeld, type RestResult, toRestTable } from './rest-report.ts'

const good: RestResult = {
  readyMs: 700,
  fresh: { workerMiB: 80, wholeMiB: 150 },
  afterLoad: { workerMiB: 95, wholeMiB: 165 },
}

t.test('the middle of the rounds stands beside its goal, and one bad round spoils nothing', async t => {
  const results = [good, { ...good, readyMs: 9000 }, { ...good, readyMs: 750 }]

  t.ok(hasHeld(results))
  t.match(toRestTable(results), /\| start to ready \| 750 ms \| <= 800 ms \| 700, 9000, 750 \|/)
  t.notMatch(toRestTable(results), '\\*')
})

t.test('each figure can miss its goal, and has a star then', async t => {
  const bad: Readonly<Record<string, RestResult>> = {
    'start to ready': { ...good, readyMs: 801 },
    'the worker at rest': { ...good, fresh: { workerMiB: 101, wholeMiB: 150 } },
    'all processes at rest': { ...good, fresh: { workerMiB: 80, wholeMiB: 181 } },
    'the worker after a load': { ...good, afterLoad: { workerMiB: 101, wholeMiB: 165 } },
    'all processes after a load': { ...good, afterLoad: { workerMiB: 80, wholeMiB: 181 } },
  }

  for (const [title, result] of Object.entries(bad)) {
    t.notOk(hasHeld([result]), title)
    const starred = toRestTable([result])
      .split('\n')
      .filter(line => line.includes('\\*'))
    t.equal(starred.length, 1, title)
    t.match(starred[0], new RegExp(`^\\| ${title} \\|`))
  }
})
