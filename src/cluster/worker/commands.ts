import type { App, ClientIntake } from '../../app.ts'
import { decodeConfig } from '../ipc/config-codec.ts'
import type { PrimaryMessage, WorkerMessage } from '../messages.ts'
import type { ListenHandle } from '../supervisor/reuseport-sockets.ts'
import { reclaimMemory } from '../v8/memory-reclaim.ts'
import type { LimiterRpc } from './limiter-rpc.ts'
import { createSockets } from './listeners.ts'
import type { LocalShare } from './local-share.ts'
import { createStagedConfigs } from './staged-configs.ts'
import { endWithStartFailure } from './start-failure.ts'

/** The parts of a worker. */
export interface WorkerParts {
  /** The worker's own slot. */
  readonly slot: number
  readonly app: App
  readonly intake: ClientIntake
  readonly charges: LimiterRpc
  readonly share: LocalShare
  send(message: WorkerMessage): void
  /** Reports the changes of the metrics. @param asked the id of the `report` message */
  report(asked: number): void
  /** Sends `started`; only the first call has an effect. */
  start(): void
  /** Every request is answered: ends the process. */
  end(): Promise<void>
}

/** Runs the commands of the primary. @returns a function for each message, with the handle that it carries */
export const createCommandHandler = (parts: WorkerParts): ((message: PrimaryMessage, handle: unknown) => void) => {
  const { slot, app, intake, charges, share, send } = parts
  const { privateListener } = app
  const sockets = createSockets(app.traffic, app.inFlight)
  const privateSockets = privateListener && createSockets(privateListener.traffic, privateListener.inFlight)
  void reclaimMemory([sockets, ...(privateSockets ? [privateSockets] : [])])
  const stagedConfigs = createStagedConfigs(app, intake)
  return (message, handle) => {
    switch (message.type) {
      case 'configure':
        return void app.prepare(decodeConfig(message.config, intake)).then(prepared => {
          prepared.adopt()
          parts.start()
        }, endWithStartFailure)
      case 'propose':
        return void stagedConfigs
          .prepare(message.id, message.config)
          .then(refusal => send({ type: 'prepared', id: message.id, ...(refusal !== undefined && { refusal }) }))
      case 'commit':
        // This worker started after the proposal was sent, so it has nothing staged.
        if (!stagedConfigs.commit(message.id)) send({ type: 'loaded' })
        return
      case 'abort':
        return stagedConfigs.abort(message.id)
      case 'listen':
        return sockets.listen(message.slot, handle as ListenHandle, () =>
          send({ type: 'listening', slot: message.slot }),
        )
      case 'listen-privately':
        return privateSockets?.listen(slot, handle as ListenHandle, () => undefined)
      case 'release':
        return sockets.release(message.slot)
      case 'verdicts':
        return charges.settle(message.id, message.verdicts)
      case 'revoked':
        return app.learnRevocations(message.revocations)
      case 'report':
        return parts.report(message.id)
      case 'pods':
        return share.setPods(message.count, message.index)
      case 'retire': {
        app.startDraining()
        app.closeEndless()
        const { timeoutMs } = message
        return void Promise.all([sockets.retire(timeoutMs), privateSockets?.retire(timeoutMs)]).then(parts.end)
      }
      case 'drain':
        return app.startDraining()
      case 'stop':
        app.closeEndless()
        return void Promise.all([sockets.finish(), privateSockets?.finish()]).then(parts.end)
    }
  }
}
