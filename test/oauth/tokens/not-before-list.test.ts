import t from 'tap'
import { createNotBeforeList } from '../../../src/oauth/tokens/not-before-list.ts'

const alice = { client_id: 'app', sub: 'alice' }
const untilMs = 1_000_000

t.test('a cutoff covers the tokens that were issued through its last second, and none of the next second', async t => {
  const list = createNotBeforeList()
  list.add({ client_id: 'app', throughSec: 100, untilMs })

  t.equal(list.covers(alice, 99), true)
  t.equal(list.covers(alice, 100), true)
  t.equal(list.covers(alice, 101), false)
})

t.test('a cutoff covers only its client, its subject, or its subject at its client', async t => {
  const strangers = { client: { client_id: 'other', sub: 'alice' }, subject: { client_id: 'app', sub: 'bob' } }
  for (const [target, client, subject] of [
    [{ client_id: 'app' }, false, true],
    [{ sub: 'alice' }, true, false],
    [{ client_id: 'app', sub: 'alice' }, false, false],
  ] as const) {
    const list = createNotBeforeList()
    list.add({ ...target, throughSec: 100, untilMs })

    t.equal(list.covers(alice, 100), true)
    t.equal(list.covers(strangers.client, 100), client)
    t.equal(list.covers(strangers.subject, 100), subject)
  }
})

t.test('of two cutoffs of one owner the later one applies, in either order', async t => {
  const list = createNotBeforeList()
  for (const throughSec of [200, 100]) list.add({ sub: 'alice', throughSec, untilMs })

  t.equal(list.covers(alice, 200), true)
})

t.test('cutoffs that no token can fall under are dropped, and the others stay', async t => {
  const list = createNotBeforeList()
  list.add({ sub: 'alice', throughSec: 100, untilMs })
  list.add({ client_id: 'app', sub: 'bob', throughSec: 100, untilMs: untilMs + 1 })
  list.sweep(untilMs)

  t.equal(list.covers(alice, 100), false)
  t.equal(list.covers({ client_id: 'app', sub: 'bob' }, 100), true)
})
