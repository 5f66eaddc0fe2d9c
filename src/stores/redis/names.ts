/**
 * Every key that the store keeps in Redis; `../README.md` says what is in them and how long. The part in braces
 * decides the slot in a Redis Cluster: all of one authorization is in one.
 */
export const names = {
  keys: 'sidegate:keys',
  grant: (grantId: string): string => `sidegate:{${grantId}}:grant`,
  token: (grantId: string, digest: string): string => `sidegate:{${grantId}}:token:${digest}`,
  revoked: (grantId: string): string => `sidegate:{${grantId}}:revoked`,
  feed: 'sidegate:{revocations}:feed',
  feedExpiry: 'sidegate:{revocations}:expiry',
  interaction: (id: string): string => `sidegate:interaction:${id}`,
  replay: (id: string): string => `sidegate:replay:${id}`,
  pushed: (id: string): string => `sidegate:pushed:${id}`,
  pods: 'sidegate:pods',
  limit: 'sidegate:limit',
} as const
