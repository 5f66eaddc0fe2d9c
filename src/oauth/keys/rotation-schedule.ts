import type { KeyRecord } from '../../stores/ports/keys.ts'
import type { OAuthOptions } from '../options.ts'
import type { SigningAlg } from '../protocol.ts'

/**
 * When a signing key is published, signs, and is removed. These are pure functions that the key ring, the key set and
 * the command line share. A key is published before it signs, and stays published until everything that it signed has
 * expired (OpenID Connect Core section 10.1.1).
 */

/** The settings that the schedule depends on. */
export interface KeyPolicy {
  /** The algorithms of tokens and introspection responses. The ring has a key for each of these. */
  readonly algorithms: readonly SigningAlg[]
  /** How long a key signs before its successor does. */
  readonly rotateEverySec: number
  /** The longest lifetime of anything that a key signs. */
  readonly tokenLifetimeSec: number
}

export type KeyState = 'next' | 'signing' | 'retiring' | 'gone'

/** How long clients may cache the key set: the `max-age` of the response. */
export const keySetMaxAgeSec = 300
/** The interval at which every process reads the keys. */
export const readEveryMs = 10_000

/**
 * How long until every process has a key that is stored now: one reading, and five seconds for slow processes and for
 * clocks that differ.
 */
export const spreadMs = readEveryMs + 5_000

/**
 * The time from storing a key to its first use. Until the last process has the key, responses may contain the key set
 * without it, and the last of these responses may be cached for another `keySetMaxAgeSec`. 315 seconds.
 */
export const publicationMs = spreadMs + keySetMaxAgeSec * 1000

/** The maximum difference between the clocks of signers and verifiers. */
const skewMs = 60_000

export const keyPolicyOf = (options: Pick<OAuthOptions, 'accessToken' | 'clients' | 'keys'>): KeyPolicy => ({
  algorithms: signingAlgsOf(options),
  rotateEverySec: options.keys.rotateEverySec,
  tokenLifetimeSec: options.accessToken.lifetimeSec,
})

/** Every algorithm that this configuration signs with. */
export const signingAlgsOf = ({
  accessToken,
  clients,
}: Pick<OAuthOptions, 'accessToken' | 'clients'>): readonly SigningAlg[] => [
  ...new Set([
    accessToken.alg,
    ...clients.internedMetadata.flatMap(client => [
      client.access_token_signed_response_alg,
      client.introspection_signed_response_alg,
    ]),
  ]),
]

/** The instant from which on the key signs. */
export const activeAtMs = (key: KeyRecord): number => key.activeAtMs ?? key.createdAtMs

/**
 * Sorts keys by the instant at which they become active. Keys with the same instant have the same order in every
 * process.
 */
export const byActivation = (a: KeyRecord, b: KeyRecord): number =>
  activeAtMs(a) - activeAtMs(b) || (a.kid < b.kid ? -1 : 1)

export const stateOf = (key: KeyRecord, keys: readonly KeyRecord[], policy: KeyPolicy, nowMs: number): KeyState => {
  if (nowMs >= publishedUntilMs(key, keys, policy)) return 'gone'
  if (nowMs >= signsUntilMs(key, keys, policy) || !isUsed(key.alg, policy)) return 'retiring'
  return nowMs < activeAtMs(key) ? 'next' : 'signing'
}

/**
 * The instant at which the last token that it signed has expired on every clock; Infinity while it has no successor.
 */
export const publishedUntilMs = (key: KeyRecord, keys: readonly KeyRecord[], policy: KeyPolicy): number =>
  signsUntilMs(key, keys, policy) + policy.tokenLifetimeSec * 1000 + skewMs

const signsUntilMs = (key: KeyRecord, keys: readonly KeyRecord[], policy: KeyPolicy): number => {
  const successor = keys.filter(other => other.alg === key.alg && byActivation(key, other) < 0).sort(byActivation)[0]
  if (successor) return activeAtMs(successor)
  if (isUsed(key.alg, policy)) return Number.POSITIVE_INFINITY
  // This process does not sign with this algorithm. Another process may have another configuration, but then that one
  // rotates in time.
  return activeAtMs(key) + policy.rotateEverySec * 1000 + publicationMs
}

const isUsed = (alg: string, { algorithms }: KeyPolicy): boolean => algorithms.some(used => used === alg)

/** When a successor must be published, so that the newest key of an algorithm does not sign longer than it should. */
export const successorDueAtMs = (newest: KeyRecord, { rotateEverySec }: KeyPolicy): number =>
  activeAtMs(newest) + rotateEverySec * 1000 - publicationMs
