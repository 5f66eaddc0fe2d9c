/**
 * Largest assumed difference between the clocks of two processes, in milliseconds. State that must exist while another
 * process accepts a token or a proof is kept for so much longer.
 */
export const clockSpreadMs = 60_000
