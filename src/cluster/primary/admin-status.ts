import type { SidegateConfig } from '../../app.ts'
import { buildInfo } from '../../version.ts'
import type { Workers } from '../supervisor/worker-pool.ts'
import type { AdminChecks, AdminView } from './admin-server.ts'
import type { EvictionReport } from './eviction-report.ts'
import type { Reload } from './reload.ts'
import type { ScrapeFanOut } from './scrape-fan-out.ts'
import type { StoreFileWatch } from './store-file-watch.ts'
import type { StoreHealth } from './store-health.ts'

/** The phase of the program. */
export interface RunState {
  /** Every slot has been served once. */
  isReady: boolean
  isDraining: boolean
}

/** The parts of the primary that the admin port reports on. */
export interface AdminSubjects {
  readonly config: SidegateConfig
  readonly state: Readonly<RunState>
  readonly workers: Workers
  readonly storeWatch: StoreHealth
  readonly storeFile: StoreFileWatch
  readonly eviction: EvictionReport
  readonly reload: Reload
  readonly scrapeFanOut: ScrapeFanOut
}

export const createAdminView = (subjects: AdminSubjects): AdminView => {
  const { state, workers, storeFile, scrapeFanOut } = subjects
  return {
    isReady: () => state.isReady && workers.serving() > 0 && !state.isDraining && !storeFile.isReplaced(),
    checks: () => checksOf(subjects),
    metrics: scrapeFanOut.expose,
    version: () => ({ ...buildInfo() }),
  }
}

const checksOf = ({ config, state, workers, storeWatch, storeFile, eviction, reload }: AdminSubjects): AdminChecks => [
  ['configuration', reload.finding()],
  ['workers', `${workers.serving()} of ${config.workers}`],
  ['store', `${config.store.kind}, ${storeFile.isReplaced() ? 'replaced' : storeWatch.finding('store')}`],
  ['plan limits', storeWatch.finding('limiter')],
  ...evictionCheck(eviction.finding()),
  ['draining', state.isDraining ? 'yes' : 'no'],
]

const evictionCheck = (finding: string | undefined): AdminChecks =>
  finding === undefined ? [] : [['store eviction', finding]]
