let line = ''
let validUntilMs = 0

/** The `Date` field line of now, with its line end (RFC 9110 section 6.6.1). Made once a second. */
export const dateFieldLine = (): string => {
  const nowMs = Date.now()
  // The clock may be set back.
  if (nowMs >= validUntilMs || nowMs < validUntilMs - 1000) {
    validUntilMs = nowMs - (nowMs % 1000) + 1000
    line = `Date: ${new Date(nowMs).toUTCString()}\r\n`
  }
  return line
}
