/** The plan of every client in these runs: 100 a second, strict. The competitor has the same. */
export const plan = { limit: 100, windowMs: 1000 } as const

/** Every client's secret (RFC 6749 section 2.3.1). */
export const clientSecret = 'limits-secret-0123456789abcdef'
