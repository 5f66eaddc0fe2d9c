/** A request for one of the scripts, by the grouping `up`. */
export const get = (name: string, method = 'GET', ...lines: readonly string[]): string =>
  [`${method} /up/${name} HTTP/1.1`, 'Host: gw.test', ...lines, '', ''].join('\r\n')

export const handshake = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
] as const

/** Answers that cannot be handed on, seen before a byte of them is. */
export const invalid: readonly string[] = [
  'garbage',
  'two-lengths',
  'length-and-chunked',
  'coded-for-the-transfer',
  'huge-header',
  'unasked-upgrade',
  'status-099',
  'status-600',
  'status-999',
  'status-twenty',
  'another-version',
  'folded-line',
  'bare-line-feed',
  'bare-return',
  'nul-in-value',
  'space-before-colon',
  'signed-length',
  'length-list',
  'two-codings',
  'chunks-in-old-version',
  'no-name',
  'empty-first-line',
  'too-long-interim',
]

/** Answers that begin well and do not end. */
export const brokenOff: readonly string[] = [
  'no-last-chunk',
  'broken-chunk',
  'short-chunk',
  'long-chunk',
  'negative-chunk',
  'trailer-cut-off',
  'reset-in-body',
  'reset-until-close',
]
