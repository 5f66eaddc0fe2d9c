/** How much is read of a body whose request has been answered. Beyond that the connection closes. */
export const discardLimits = { bytes: 1024 * 1024, timeMs: 1000 } as const

/**
 * The longest silence of the client, and the longest time in all, after the FIN of the server (nginx:
 * lingering_timeout, lingering_time).
 */
export const lingerLimits = { silenceMs: 1000, timeMs: 10_000 } as const

/**
 * A connection stays open for longer than `Keep-Alive` announces, because a request that was sent in time may still be
 * on its way.
 */
export const idleGraceMs = 1000

/** How long after its FIN a client still counts as one that may read. */
export const halfCloseGraceMs = 50

/** How many pipelined requests are answered in one turn of the event loop if each is answered synchronously. */
export const requestsPerTurn = 16
