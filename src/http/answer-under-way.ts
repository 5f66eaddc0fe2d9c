import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** The response that a connection waits for; Node hangs it on its socket, and there is no public name for it. */
export const answerUnderWay = (socket: Duplex): ServerResponse | undefined =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
