import type { Socket } from 'node:net'

/**
 * A server may respond and close before the request body ends. The next write then fails, and Node would destroy the
 * socket with the response unread. After this call a failed write destroys the socket two turns of the event loop
 * later, so that the bytes that have arrived are read in between.
 * @param isResponsePossible whether the server has received a request that it may answer; if not, nothing changes
 */
export const drainBeforeDestroy = (socket: Socket, isResponsePossible: () => boolean): void => {
  const destroy = socket.destroy
  // Declared first: if the function were created in the assignment, V8 would allocate it and its context in the old
  // generation.
  const destroyInTime = (error?: Error): Socket => {
    if (!isOfWriting(error) || !isResponsePossible()) return destroy.call(socket, error)
    // One turn is not enough: if the write fails in the middle of a turn, the poll for received bytes is over.
    setImmediate(() => setImmediate(() => destroy.call(socket, error)))
    return socket
  }
  socket.destroy = destroyInTime
}

const isOfWriting = (error: Error | undefined): boolean =>
  error !== undefined && (error as NodeJS.ErrnoException).syscall === 'write'
