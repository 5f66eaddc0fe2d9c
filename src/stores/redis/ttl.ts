import type { Clock } from '../../clock.ts'

/**
 * Milliseconds from now to an instant, at least 1. Redis is told lifetimes, never instants, so that its clock and ours
 * need not agree.
 */
export const ttlMs = (clock: Clock, untilMs: number): number => Math.max(1, Math.ceil(untilMs - clock.nowMs()))
