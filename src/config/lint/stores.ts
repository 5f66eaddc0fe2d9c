import { parseRedisAddress, type RedisAddress } from '../../stores/store-url.ts'
import type { ParsedConfig } from '../parse/parsed-config.ts'
import { isLoopback } from '../values/address.ts'
import { type WarningRules, warnIf } from './warning.ts'

/** Where tokens, keys and counts are stored, and what happens while the store is unavailable. */
export const storeRules = {
  'memory-store': ({ parsed: { topLevel } }) =>
    warnIf(
      topLevel.value.store.kind === 'memory',
      ['store'],
      'tokens and signing keys are lost at every restart; set sqlite:path, or a Redis address',
    ),
  'store-per-pod': ({ parsed: { topLevel } }) => {
    const { store, pods } = topLevel.value
    const message =
      "each pod has its own store: tokens of one pod are unknown to the others, and a plan's limit applies to each pod; set a Redis address"
    return warnIf(store.kind !== 'redis' && pods !== 'auto' && pods > 1, ['store'], message)
  },
  'plain-redis': ({ parsed }) => {
    const address = findRemoteRedis(parsed)
    const message = 'what is kept goes over the network in clear, and the password with it; write rediss:// for TLS'
    return warnIf(address !== undefined && !address.tls, ['store'], message)
  },
  'redis-without-password': ({ parsed }) => {
    const address = findRemoteRedis(parsed)
    const isProven = address?.login.password !== undefined || address?.tls?.certFile !== undefined
    const message =
      'every host that can reach this Redis can read keys and tokens; set a user and a password, or a certificate'
    return warnIf(address !== undefined && !isProven, ['store'], message)
  },
  'closed-with-one-redis': ({ parsed: { topLevel, plans } }) => {
    const { store } = topLevel.value
    const isSingle = store.kind === 'redis' && store.mode === 'single'
    const message =
      'with a single Redis every request is refused while it restarts; set redis+sentinel:// or redis+cluster://, or whenStoreFails: local'
    return plans.flatMap(({ path, value }) =>
      warnIf(isSingle && value.whenStoreFails === 'closed', [...path, 'whenStoreFails'], message),
    )
  },
  'open-plan': ({ parsed: { plans } }) =>
    plans.flatMap(({ path, value }) =>
      warnIf(
        value.whenStoreFails === 'open',
        [...path, 'whenStoreFails'],
        'no request is limited while the store is unavailable; set local, which counts in each process',
      ),
    ),
} as const satisfies WarningRules

/** A Redis on another machine. */
const findRemoteRedis = ({ topLevel }: ParsedConfig): RedisAddress | undefined => {
  const { store } = topLevel.value
  const address = store.kind === 'redis' ? parseRedisAddress(store) : undefined
  if (!address || 'problem' in address) return undefined
  return address.hosts.every(({ host }) => isLoopback(host)) ? undefined : address
}
