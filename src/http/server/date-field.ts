let line = ''
let validUntilMs = 0

/** The current `Date` field line with its CRLF (RFC 9110 section 6.6.1). Created once a second. */
export const dateFieldLine = (): string => {
  const nowMs = Date.now()
  // The clock may be set back.
  if (nowMs >= validUntilMs || nowMs < validUntilMs - 1000) {
    validUntilMs = nowMs - (nowMs % 1000) + 1000
    line = `Date: ${new Date(nowMs).toUTCString()}\r\n`
  }
  return line
}
