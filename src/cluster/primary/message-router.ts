import type { createLimiterService } from '../../app/primary.ts'
import type { Aggregate } from '../../telemetry/aggregate.ts'
import type { Workers } from '../supervisor/worker-pool.ts'
import type { WorkersOptions } from '../supervisor/worker-pool-options.ts'
import type { CertificateWatch, ChangeWatch } from './dedup.ts'
import type { Reload } from './reload.ts'
import type { ScrapeFanOut } from './scrape-fan-out.ts'
import type { StoreHealth } from './store-health.ts'

/** Everybody in the primary whom a worker may have something to tell. */
export interface MessageHandlers {
  readonly aggregate: Aggregate
  readonly scrapeFanOut: ScrapeFanOut
  readonly decide: ReturnType<typeof createLimiterService>
  readonly storeWatch: StoreHealth
  readonly certificateWatch: CertificateWatch
  readonly changeWatch: ChangeWatch
  readonly reload: Reload
  readonly workers: Pick<Workers, 'tell'>
}

/** Puts what workers say through to those whom it concerns. @param listening asked for each message */
export const createMessageRouter = (
  listening: () => MessageHandlers,
): Pick<WorkersOptions, 'onMessage' | 'onGone'> => ({
  onMessage(worker, message, answer) {
    const { aggregate, scrapeFanOut, decide, storeWatch, certificateWatch, changeWatch, reload, workers } = listening()
    switch (message.type) {
      case 'metrics':
        if (message.changes) aggregate.apply(worker, message.changes)
        if (message.asked !== undefined) scrapeFanOut.reported(worker, message.asked)
        break
      case 'charges':
        answer({ type: 'verdicts', id: message.id, verdicts: decide(message.charges) })
        break
      case 'store':
        storeWatch.report(worker, message.what, message.up, message.reason)
        break
      case 'certificate':
        certificateWatch.refused(message.reason, message.content)
        break
      case 'change':
        changeWatch.saw(message.id, message.entry)
        break
      case 'revoked':
        workers.tell(message, worker)
        break
      case 'proposal':
        reload.record(worker, message.id, message.refusal)
        break
      default:
    }
  },
  onGone(worker) {
    const { aggregate, scrapeFanOut, storeWatch, reload } = listening()
    aggregate.forget(worker)
    storeWatch.forget(worker)
    scrapeFanOut.gone(worker)
    reload.drop(worker)
  },
})
