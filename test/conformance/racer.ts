/**
 * One of several processes that race on a store: `node racer.ts URL`, steered by `race.ts` over IPC. It opens the store,
 * says `ready`, and for each list of calls that it is sent makes them all at once and sends their outcomes.
 */
import { systemClock } from '../../src/clock.ts'
import { openStore, parseStoreUrl } from '../../src/stores/open.ts'
import { makeCall, type RacedCall } from './race.ts'

const url = parseStoreUrl(process.argv[2] ?? '')
if ('problem' in url) throw new Error(url.problem)
const store = await openStore(url, systemClock)

process.on('message', async (calls: readonly RacedCall[]) => {
  const outcomes = await Promise.all(calls.map(call => makeCall(store, call)))
  process.send?.(outcomes)
})
process.send?.('ready')
