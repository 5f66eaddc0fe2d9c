import type { ClientIntake, SidegateConfig } from '../../app.ts'
import { decodeConfig } from '../ipc/config-codec.ts'
import type { PrimaryMessage, WorkerMessage } from '../messages.ts'

/** The first configuration of a worker. */
export interface FirstConfig {
  readonly config: SidegateConfig
  /** Whether another configuration was committed since. */
  isStale(): boolean
}

/**
 * Asks the primary for the configuration that is served now, which may differ from the file.
 * @param intake gets the clients of this configuration, and of all later ones
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
