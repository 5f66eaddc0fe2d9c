import t from 'tap'
import { createBruteForceLimit } from '../../src/gateway/authn/brute-force-limit.ts'
import { createMemoryLimiter } from '../../src/stores/memory/limiter.ts'
import { createManualClock } from '../oauth/support/authorization-server.ts'

/** Three failures of a name at an address, and thirty of a name or of an address in all. */
const rate = { limit: 3, windowSec: 60 }

/** Two processes that count together. */
const start = () => {
  const clock = createManualClock()
  const limiter = createMemoryLimiter(clock)
  const [failures, elsewhere] = [rate, rate].map(each => createBruteForceLimit(limiter, each, clock.nowMs))
  if (!failures || !elsewhere) throw new Error('two are made')
  return { clock, failures, elsewhere }
}

const addressOf = (nth: number): string => `192.0.2.${nth}`

t.test('a name is refused at every address after ten times as many failures as one address may have', async t => {
  const { clock, failures, elsewhere } = start()
  for (let nth = 0; nth < 30; nth++) t.equal(await failures.count('alice', addressOf(nth)), 0)

  t.equal(await elsewhere.count('alice', addressOf(200)), 60_000, 'processes count together')
  t.equal(elsewhere.blockedMs('alice', addressOf(201)), 60_000)
  t.equal(elsewhere.blockedMs('bob', addressOf(201)), 0)
  clock.advanceSec(60)
  t.equal(elsewhere.blockedMs('alice', addressOf(201)), 0)
})

t.test('at an address where a name was proven, failures at other addresses do not refuse it', async t => {
  const { clock, failures } = start()
  failures.proven('alice', addressOf(100))
  for (let nth = 0; nth < 31; nth++) await failures.count('alice', addressOf(nth))

  t.equal(failures.blockedMs('alice', addressOf(100)), 0)
  t.equal(failures.blockedMs('alice', addressOf(101)), 60_000)
  t.equal(await failures.count('alice', addressOf(100)), 0, 'its own failures there are counted')
  for (let nth = 0; nth < 3; nth++) await failures.count('alice', addressOf(100))
  t.equal(failures.blockedMs('alice', addressOf(100)), 60_000, 'and refuse it')
  clock.advanceSec(24 * 3600)
  for (let nth = 0; nth < 31; nth++) await failures.count('alice', addressOf(nth))
  t.equal(failures.blockedMs('alice', addressOf(100)), 60_000, 'a day later it is no longer known there')
})

/** Checks that fail after a turn of the event loop. Answers how many of them ran, and how many ran at once. */
const guess = async (
  failures: ReturnType<typeof start>['failures'],
  guesses: readonly (readonly [name: string, address: string])[],
): Promise<{ ran: number; atOnce: number }> => {
  let [ran, running, atOnce] = [0, 0, 0]
  const check = async (name: string, address: string): Promise<void> => {
    if (failures.blockedMs(name, address) > 0) return
    ran++
    atOnce = Math.max(atOnce, ++running)
    await new Promise(setImmediate)
    await failures.count(name, address)
    running--
  }
  await Promise.all(guesses.map(([name, address]) => failures.inTurn(name, address, () => check(name, address))))
  return { ran, atOnce }
}

t.test('guesses of one address at many names, sent all at once, get no further than guesses sent in turn', async t => {
  const { failures } = start()
  const guesses = Array.from({ length: 500 }, (_, nth) => [`user ${nth}`, addressOf(1)] as const)

  t.same(await guess(failures, guesses), { ran: 31, atOnce: 3 })
})

t.test(
  'guesses at one name from many addresses, sent all at once, get no further than guesses sent in turn',
  async t => {
    const { failures } = start()
    const guesses = Array.from({ length: 250 }, (_, nth) => ['alice', addressOf(nth)] as const)

    t.same(await guess(failures, guesses), { ran: 31, atOnce: 3 })
  },
)

t.test('a check where the name was proven does not wait for guesses at other addresses', async t => {
  const { failures } = start()
  failures.proven('alice', addressOf(100))
  const guesses = Array.from({ length: 20 }, (_, nth) => ['alice', addressOf(nth)] as const)

  const guessed = guess(failures, guesses)
  t.equal(
    failures.inTurn('alice', addressOf(100), from => from),
    addressOf(100),
  )
  t.type(
    failures.inTurn('alice', addressOf(101), from => from),
    Promise,
  )
  await guessed
})

t.test('addresses of one IPv6 network are one', async t => {
  const { failures } = start()

  t.equal(
    failures.inTurn('alice', '2001:db8::1', from => from),
    '2001:db8:0:0::/64',
  )
})
