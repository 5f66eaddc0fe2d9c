import type { Socket } from 'node:net'

/**
 * A server that wants no more of a body says so and closes. The next piece that is written to it fails, and Node would destroy
 * the socket at once, with the answer unread in it. From now on a failed write destroys it two turns of the event loop later:
 * what has come is read in between.
 * @param isResponsePossible whether the server has got a request that it may answer; while it has not, nothing changes
 */
export const drainBeforeDestroy = (socket: Socket, isResponsePossible: () => boolean): void => {
  const destroy = socket.destroy
  // Named first: where it is assigned V8 would put it among the old objects, with all that it sees.
  const destroyInTime = (error?: Error): Socket => {
    if (!isOfWriting(error) || !isResponsePossible()) return destroy.call(socket, error)
    // One turn is not enough: the write may have failed in the midst of it, when it was too late to look for what has come.
    setImmediate(() => setImmediate(() => destroy.call(socket, error)))
    return socket
  }
  socket.destroy = destroyInTime
}

const isOfWriting = (error: Error | undefined): boolean =>
  error !== undefined && (error as NodeJS.ErrnoException).syscall === 'write'
