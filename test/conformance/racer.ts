/**
 * One of several processes that race on a store: `node racer.ts URL`, controlled by `race.ts` over IPC. It opens the
 * store and sends `ready`. For each list of calls that it receives it makes all calls at once and sends their outcomes.
 */
import { systemClock } from '../../src/clock.ts'
import { openStore, parseStoreUrl } from '../../src/stores/open.ts'
import { makeCall, type RacedCall, type RacerMessage } from './race.ts'

const url = parseStoreUrl(process.argv[2] ?? '')
if ('problem' in url) throw new Error(url.problem)
const store = await openStore(url, systemClock)

const send = (message: RacerMessage): void => void process.send?.(message)

process.on('message', async (calls: readonly RacedCall[]) => {
  // SQLite blocks the event loop during a call, so this message leaves before the first one.
  send({ kind: 'begun' })
  try {
    send({ kind: 'done', outcomes: await Promise.all(calls.map(call => makeCall(store, call))) })
  } catch (error) {
    send({ kind: 'failed', reason: String(error) })
  }
})
send({ kind: 'ready' })
