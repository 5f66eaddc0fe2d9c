import type { Clock } from '../../clock.ts'

/**
 * Every key that the store uses in Redis, without the prefix of the store's address, which the connection adds.
 * `../README.md` describes their content and lifetime. The part in braces determines the slot in a Redis Cluster: all
 * keys of one authorization are in one slot.
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
  /** The ids of interactions and pushed requests whose user or client has not authenticated. */
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
  /** All counters of a charge's key begin with this, and are in one slot. */
  counters: (key: string): string => `limit:{${key}}`,
  /** Written to check whether Redis accepts writes; different numbers lead to different nodes of a Cluster. */
  probe: (place: number): string => `probe:${place}`,
} as const

/**
 * Milliseconds from now until `untilMs`, at least 1. Redis gets lifetimes and never absolute times, because its clock
 * and ours need not agree.
 */
export const ttlMs = (clock: Clock, untilMs: number): number => Math.max(1, Math.ceil(untilMs - clock.nowMs()))
