import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

type Answering = Socket & { _httpMessage?: ServerResponse | null }

/** The response that a connection waits for; Node hangs it on its socket, and there is no public name for it. */
export const answerUnderWay = (socket: Duplex): ServerResponse | undefined =>
  (socket as Answering)._httpMessage ?? undefined

const nothing = (): void => undefined

/** Parts a connection that has closed from the response that it waited for, once that has been told. */
export const forgetAnswer = (socket: Socket): void => {
  const answer = answerUnderWay(socket)
  if (answer === undefined) return
  ;(socket as Answering)._httpMessage = null
  // It may be ended later on, by whoever does not know yet. Node would part the two then, and insist that they were together.
  answer.detachSocket = nothing
}
