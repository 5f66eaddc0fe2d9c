import type { RedisConnection } from './connection.ts'

/** Whether Redis is worth asking. While open, nothing but PING is sent: a real call that was given up still counts. */
export interface Breaker {
  readonly isOpen: boolean
  /** Opens at once. */
  trip(error: Error): void
  stop(): void
}

/** How often an open breaker tries PING, in milliseconds. */
const probeEveryMs = 100

/** How long a Redis is left alone that answers but refuses (out of memory, read-only), in milliseconds. */
const refusalPauseMs = 1000

/** @param onStateChange told of every opening (`up` false, with the reason) and closing */
export const createBreaker = (
  connection: RedisConnection,
  onStateChange: (up: boolean, error?: Error) => void,
): Breaker => {
  let isOpen = false
  let earliestProbeAtMs = 0
  let timer: NodeJS.Timeout | undefined

  const close = (): void => {
    clearInterval(timer)
    timer = undefined
    if (!isOpen) return
    isOpen = false
    onStateChange(true)
  }
  const probe = (): void => {
    if (!isOpen || connection.status !== 'ready' || performance.now() < earliestProbeAtMs) return
    connection.ping().then(close, () => undefined)
  }
  const trip = (error: Error): void => {
    if (isOpen) return
    isOpen = true
    earliestProbeAtMs = error.name === 'ReplyError' ? performance.now() + refusalPauseMs : 0
    timer = setInterval(probe, probeEveryMs)
    timer.unref()
    onStateChange(false, error)
  }
  const onClose = (): void => trip(new Error('the connection to Redis is closed'))

  connection.on('ready', probe)
  connection.on('close', onClose)
  return {
    get isOpen() {
      return isOpen
    },
    trip,
    stop: () => {
      connection.off('ready', probe)
      connection.off('close', onClose)
      clearInterval(timer)
    },
  }
}
