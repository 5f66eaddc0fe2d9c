import type { ClientIntake, SidegateConfig } from '../../app.ts'
import { decodeConfig } from '../ipc/config-codec.ts'
import type { PrimaryMessage, WorkerMessage } from '../messages.ts'

/** What a worker begins with. */
export interface FirstConfig {
  readonly config: SidegateConfig
  /** Whether another one was adopted since. */
  isStale(): boolean
}

/**
 * Asks the primary for what it serves now, which is not always what the file says.
 * @param intake gets the clients of this one, and of all that come later
 */
export const askForConfig = (intake: ClientIntake, send: (message: WorkerMessage) => void): Promise<FirstConfig> =>
  new Promise(resolve => {
    let isStale = false
    let isKnown = false
    process.on('message', (message: PrimaryMessage) => {
      if (message.type === 'clients') intake.add(message.part)
      if (message.type === 'commit') isStale = true
      if (message.type !== 'configure' || isKnown) return
      isKnown = true
      resolve({ config: decodeConfig(message.config, intake), isStale: () => isStale })
    })
    send({ type: 'loaded' })
  })
