import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Charge, Limiter, Rule } from '../../../src/stores/ports/limiter.ts'
import { createRedisLimiter } from '../../../src/stores/redis/limiter.ts'
import { parseStoreUrl } from '../../../src/stores/store-url.ts'
import { chargeBy, newRule } from '../../support/charges.ts'
import { eventually } from '../../support/eventually.ts'
import { startRedis } from '../../support/redis.ts'

const limit = 20
const lastsMs = 2000

const redis = await startRedis(t)
const url = parseStoreUrl(redis.url)
if ('problem' in url || url.kind !== 'redis') throw new Error('not the address of a Redis')
const limiter: Limiter = await createRedisLimiter(url, {
  share: () => ({ index: 0, of: 1 }),
  onStateChange: () => undefined,
})
t.teardown(() => limiter.close())

const monitor = await redis.client.monitor()
t.teardown(() => monitor.disconnect())
const sent: (readonly string[])[] = []
monitor.on('monitor', (_time: string, words: readonly string[], source: string) => {
  // The commands that a script calls cost no round trip.
  if (source !== 'lua') sent.push(words)
})

/** How many commands for the counters of each charge reach Redis meanwhile. */
const commandsDuring = async (charges: readonly Charge[], act: () => Promise<unknown>): Promise<readonly number[]> => {
  const mark = async (text = randomUUID()): Promise<void> => {
    await redis.client.echo(text)
    await eventually(() => sent.some(words => words.includes(text)))
  }
  await mark()
  sent.length = 0
  await act()
  await mark()
  const isFor = (charge: Charge, words: readonly string[]): boolean =>
    words.some(word => word.includes(`{${charge.key}}`))
  return charges.map(charge => sent.filter(words => isFor(charge, words)).length)
}

/** Sends `perSec` charges a second; returns how many were not decided by the shared count. */
const offer = async (charge: Charge, perSec: number): Promise<number> => {
  const startedAtMs = performance.now()
  let charged = 0
  let elsewhere = 0
  const chargeOnce = async (): Promise<void> => {
    const { source } = await limiter.charge(charge)
    if (source !== 'store') elsewhere++
  }
  const under: Promise<void>[] = []
  for (let elapsedMs = 0; elapsedMs < lastsMs; elapsedMs = performance.now() - startedAtMs) {
    for (const due = (elapsedMs / 1000) * perSec; charged < due; charged++) under.push(chargeOnce())
    await sleep(1)
  }
  await Promise.all(under)
  return elsewhere
}

const quota = newRule(1000, { counter: 'quota', windowMs: 60_000 })

/** The rules of a charge, and the factor by which the number of commands may grow at 500 times the plan. */
const cases: readonly (readonly [says: string, rules: readonly Rule[], factor: number])[] = [
  ['strict', [newRule(limit)], 1],
  ['calendar', [newRule(limit, { algorithm: 'calendar' })], 1],
  ['strict, with a quota', [newRule(limit), quota], 1],
  // Places become free one by one, and sometimes the limiter asks for one a moment too early.
  ['smooth', [newRule(limit, { algorithm: 'smooth', burst: 5 })], 1.25],
]

/**
 * Commands for each case while a client of its own offers `times` its plan. The measurement is repeated if the limiter
 * decided locally because the machine paused.
 */
const commandsAt = async (times: number, attempts = 5): Promise<readonly number[]> => {
  const charges = cases.map(([, rules]) => chargeBy(...rules))
  let elsewhere = 0
  const counts = await commandsDuring(charges, async () => {
    for (const count of await Promise.all(charges.map(charge => offer(charge, times * limit)))) elsewhere += count
  })
  return elsewhere > 0 && attempts > 1 ? commandsAt(times, attempts - 1) : counts
}

t.test('a client at 500 times its plan costs as little as a client at twice its plan', async t => {
  const atTwice = await commandsAt(2)
  const atFiveHundred = await commandsAt(500)

  for (const [place, [says, , factor]] of cases.entries()) {
    const [few = 0, many = Number.POSITIVE_INFINITY] = [atTwice[place], atFiveHundred[place]]
    t.ok(few > 0 && few <= 2 * limit * (lastsMs / 1000), `${says}: ${few} commands at twice the plan`)
    t.ok(many <= factor * few, `${says}: ${many} commands at 500 times, ${few} at twice`)
  }
})

t.test('a client within its plan costs one command a request, whatever the number of limits', async t => {
  const charge = chargeBy(newRule(1000), quota, newRule(500, { counter: 'soft', mode: 'soft' }))

  const counts = await commandsDuring([charge], async () => {
    for (let i = 0; i < 10; i++) await limiter.charge(charge)
  })

  t.same(counts, [10])
})
