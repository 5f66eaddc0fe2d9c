import type { ServerResponse } from 'node:http'

/** For how long the client may be silent, and how long it may take in all, before its connection is closed anyway. */
const silenceMs = 1000
const longestMs = 30_000

/** Whether an answer is the last of its connection while the client is still sending its request. */
export const endsEarly = (res: ServerResponse): boolean => !res.shouldKeepAlive && !res.req.complete

/**
 * Ends such an answer once the rest of the request has been read and dropped: a connection that is closed with bytes unread is
 * reset, and with it goes what the client has not read of the answer (RFC 9112 section 9.6). All of the answer must have
 * been written.
 */
export const endLingering = (res: ServerResponse): void => {
  const { req } = res
  const end = (): void => {
    clearTimeout(silence)
    clearTimeout(longest)
    req.off('data', onData).off('close', end)
    res.end()
  }
  const onData = (): void => void silence.refresh()
  const silence = setTimeout(end, silenceMs)
  const longest = setTimeout(end, longestMs)
  req.on('data', onData).on('close', end)
}
