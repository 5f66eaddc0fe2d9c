import { randomBytes } from 'node:crypto'
import t from 'tap'
import { deriveKey, type SecretOwner } from '../../../src/oauth/secrets/scrypt-queue.ts'

/** The number of the earlier runs that had ended when the last one ended. */
const runAfter = async (burst: readonly SecretOwner[], last: SecretOwner): Promise<number> => {
  let ended = 0
  const run = (owner: SecretOwner) =>
    deriveKey({ secret: 'wrong', salt: randomBytes(16), lengthBytes: 32, ln: 12, r: 8, p: 1, owner })
  const all = burst.map(owner => run(owner).then(() => ended++))
  await run(last)
  const before = ended
  await Promise.all(all)
  return before
}

const times = (count: number, make: (nth: number) => SecretOwner): readonly SecretOwner[] =>
  Array.from({ length: count }, (_, nth) => make(nth))

/** Two runs are active, two more may end meanwhile, and one more flow may be at the same position. */
const few = 6

t.test('a burst of client secrets does not delay users, and a burst of passwords does not delay clients', async t => {
  const clients = times(60, nth => ({ kind: 'client', account: `c${nth}`, address: `a${nth}` }))
  const people = times(60, nth => ({ kind: 'person', account: `p${nth}`, address: `a${nth}` }))

  t.ok((await runAfter(clients, { kind: 'person', account: 'alice', address: 'x' })) < few)
  t.ok((await runAfter(people, { kind: 'client', account: 'app', address: 'x' })) < few)
})

t.test('a burst for one client, or from one address, does not delay another client at another address', async t => {
  const forOne = times(60, nth => ({ kind: 'client', account: 'tried', address: `a${nth}` }))
  const fromOne = times(60, nth => ({ kind: 'client', account: `c${nth}`, address: 'guesser' }))
  const app: SecretOwner = { kind: 'client', account: 'app', address: 'x' }

  t.ok((await runAfter(forOne, app)) < few)
  t.ok((await runAfter(fromOne, app)) < few)
})

t.test('when the queue of clients is full, a client at another address is checked, and so is a user', async t => {
  const run = (owner: SecretOwner) =>
    deriveKey({ secret: 'wrong', salt: randomBytes(16), lengthBytes: 32, ln: 1, r: 8, p: 1, owner })
  const burst = times(300, nth => ({ kind: 'client', account: `c${nth}`, address: 'guesser' })).map(run)
  const others = [
    run({ kind: 'client', account: 'app', address: 'x' }),
    run({ kind: 'person', account: 'a', address: 'y' }),
  ]

  const answers = await Promise.allSettled(burst)
  const refused = answers.filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 99, 'two run, two hundred wait, and the last one of these was rejected')
  for (const answer of refused) {
    t.match(answer, { reason: { code: 'temporarily_unavailable', headers: { 'retry-after': '1' } } })
  }
  t.equal((await Promise.all(others)).length, 2)
})
