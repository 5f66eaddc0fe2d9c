/** What is read of a body whose request has been answered, before the connection closes instead. */
export const discardLimits = { bytes: 1024 * 1024, timeMs: 1000 } as const

/** For how long the client may be silent, and how long it may take in all, after the FIN of the server (nginx: lingering_timeout, lingering_time). */
export const lingerLimits = { silenceMs: 1000, timeMs: 10_000 } as const

/** A connection stays open for longer than its client was told: a request that was sent in time may still be on its way. */
export const idleGraceMs = 1000

/** How long a client that has sent its FIN later is taken for one that may still read. */
export const halfCloseGraceMs = 50

/** So many pipelined requests that are answered at once are answered in one turn of the event loop. */
export const requestsPerTurn = 16
