import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Programs } from '../program.ts'
import { startCompetitors } from './competitor-fleet.ts'
import { skewOf } from './faketime.ts'
import type { Fleet, FleetStart } from './fleet.ts'
import { type Redises, startFar, startNear, startWatched } from './redises.ts'
import { startSidegates } from './sidegate-fleet.ts'

/** The surroundings of a scenario: a Redis near or far, or watched by a Sentinel, or pods with wrong clocks. */
export type Place = 'near' | 'far' | 'watched' | 'skewed'

/** Both programs over one Redis of their own. Closing it ends them all. */
export interface Stage extends AsyncDisposable {
  readonly redises: Redises
  readonly sidegate: Fleet
  readonly competitor: Fleet
}

type Setting = Pick<FleetStart, 'dir' | 'topology' | 'upstream' | 'clients'>

export const openStage = async (place: Place, setting: Setting): Promise<Stage> => {
  const open = new AsyncDisposableStack()
  try {
    const redises = await starters[place]({ teardown: handler => open.defer(async () => void (await handler())) })
    const programs = open.use(new Programs())
    const dir = join(setting.dir, `${place}-${setting.topology.workers}x${setting.topology.pods}`)
    mkdirSync(dir)
    const envOf = place === 'skewed' ? skewOf : () => ({})
    const start = { ...setting, programs, dir, redises, envOf }
    const [sidegate, competitor] = await Promise.all([startSidegates(start), startCompetitors(start)])
    return { redises, sidegate, competitor, [Symbol.asyncDispose]: () => open.disposeAsync() }
  } catch (error) {
    await open.disposeAsync()
    throw error
  }
}

const starters = { near: startNear, far: startFar, watched: startWatched, skewed: startNear } as const
