import type { Revocation } from '../../app.ts'
import type { WorkerMessage } from '../messages.ts'

/**
 * Reports the revocations of this worker to the primary, for the other workers of the machine. All revocations of one
 * turn of the event loop are one message, so that a burst costs the primary little.
 */
export const createRevocationChannel = (send: (message: WorkerMessage) => void): ((revocation: Revocation) => void) => {
  let pending: Revocation[] = []
  const sendPending = (): void => {
    const revocations = pending
    pending = []
    send({ type: 'revoked', revocations })
  }
  return revocation => {
    if (pending.length === 0) setImmediate(sendPending)
    pending.push(revocation)
  }
}
