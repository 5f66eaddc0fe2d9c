import type { createLimiterService } from '../../app/primary.ts'
import type { Aggregate } from '../../telemetry/aggregate.ts'
import type { Workers } from '../supervisor/worker-pool.ts'
import type { WorkerPoolHandlers } from '../supervisor/worker-pool-options.ts'
import type { CertificateWatch, ChangeWatch } from './dedup.ts'
import type { Reload } from './reload.ts'
import type { ScrapeFanOut } from './scrape-fan-out.ts'
import type { StoreHealth } from './store-health.ts'

/** The parts of the primary that messages of workers are for. */
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

/** Passes each message of a worker on to the handler for its type. */
export const createMessageRouter = ({
  aggregate,
  scrapeFanOut,
  decide,
  storeWatch,
  certificateWatch,
  changeWatch,
  reload,
  workers,
}: MessageHandlers): Pick<WorkerPoolHandlers, 'onMessage' | 'onGone'> => ({
  onMessage(worker, message, answer) {
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
      case 'prepared':
        reload.record(worker, message.id, message.refusal)
        break
      default:
    }
  },
  onGone(worker) {
    aggregate.forget(worker)
    storeWatch.forget(worker)
    scrapeFanOut.gone(worker)
    reload.drop(worker)
  },
})
