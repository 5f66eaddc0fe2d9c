import type { Clock } from '../../clock.ts'

/**
 * Every key that the store keeps in Redis, without the prefix of the store's address, which the connection puts before
 * it; `../README.md` says what is in them and how long. The part in braces decides the slot in a Redis Cluster: all of
 * one authorization is in one.
 */
export const redisKeys = {
  keys: 'keys',
  grant: (grantId: string): string => `{${grantId}}:grant`,
  token: (grantId: string, digest: string): string => `{${grantId}}:token:${digest}`,
  revoked: (grantId: string): string => `{${grantId}}:revoked`,
  feed: '{revocations}:feed',
  feedExpiry: '{revocations}:expiry',
  cutoffs: 'cutoffs',
  interaction: (id: string): string => `interaction:${id}`,
  /** Of interactions and of pushed requests, those that strangers left. */
  unprovenInteractions: 'unproven:interactions',
  unprovenPushed: 'unproven:pushed',
  replay: (id: string): string => `replay:${id}`,
  subject: (digest: string): string => `subject:${digest}`,
  pushed: (id: string): string => `pushed:${id}`,
  clients: '{clients}:records',
  clientFeed: '{clients}:feed',
  clientExpiry: '{clients}:expiry',
  clientPlaces: '{clients}:places',
  pods: 'pods',
  limit: 'limit',
  /** All counters of a charge's key begin so, and are in one slot. */
  counters: (key: string): string => `limit:{${key}}`,
  /** Written to learn whether Redis takes writes; numbers lead to different nodes of a Cluster. */
  probe: (place: number): string => `probe:${place}`,
} as const

/**
 * Milliseconds from now until `untilMs`, at least 1. Redis gets lifetimes and never absolute times, because its clock and
 * ours need not agree.
 */
export const ttlMs = (clock: Clock, untilMs: number): number => Math.max(1, Math.ceil(untilMs - clock.nowMs()))
