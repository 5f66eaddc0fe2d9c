/**
 * One of several processes that charge the same counter: `node hammer.ts URL KEY LIMIT PER_SECOND SECONDS`. It sends
 * its trace over IPC; instants are milliseconds of a clock that all processes of the machine share.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseStoreUrl } from '../../src/stores/open.ts'
import { createRedisLimiter } from '../../src/stores/redis/limiter.ts'
import { newRule } from '../support/charges.ts'
import type { SeenAdmission } from './oracle.ts'

const [, , address = '', key = '', limit, perSecond, seconds] = process.argv
const url = parseStoreUrl(address)
if ('problem' in url || url.kind !== 'redis') throw new Error('this needs the address of a Redis')
const limiter = await createRedisLimiter(url, { share: () => ({ index: 0, of: 1 }), onStateChange: () => undefined })
const charge = { key, rules: [newRule(Number(limit))], whenStoreFails: 'closed' } as const

const sharedNowMs = (): number => Number(process.hrtime.bigint()) / 1e6
const admissions: SeenAdmission[] = []
let closed = 0
const chargeOnce = async (): Promise<void> => {
  const sentAtMs = sharedNowMs()
  const verdict = await limiter.charge(charge)
  if (verdict.allowed) admissions.push({ sentAtMs, answeredAtMs: sharedNowMs() })
  if (verdict.source === 'closed') closed++
}

process.once('message', async () => {
  const startedAtMs = sharedNowMs()
  let sent = 0
  while (sharedNowMs() < startedAtMs + Number(seconds) * 1000) {
    const due = ((sharedNowMs() - startedAtMs) / 1000) * Number(perSecond)
    for (; sent < due; sent++) chargeOnce()
    await sleep(1)
  }
  await sleep(100)
  await limiter.close()
  process.send?.({ sent, closed, admissions }, () => process.disconnect?.())
})
process.send?.('ready')
