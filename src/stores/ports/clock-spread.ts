/**
 * How far apart the clocks of two processes may be, in milliseconds. What one process must still know while another one
 * accepts a token or a proof is kept for so much longer.
 */
export const clockSpreadMs = 60_000
