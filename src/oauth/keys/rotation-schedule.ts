import type { KeyRecord } from '../../stores/ports/keys.ts'
import type { OAuthOptions } from '../options.ts'
import type { SigningAlg } from '../protocol.ts'

/**
 * When a signing key is published, signs, and goes. Pure: the ring, the key set and the command line ask the same rules.
 * A key is published before it signs, and stays until nothing lives that it signed (OpenID Connect Core section 10.1.1).
 */

/** What the rules depend on. */
export interface KeyPolicy {
  /** What tokens and introspection answers are signed with; a ring has a key for each of these. */
  readonly algorithms: readonly SigningAlg[]
  /** How long a key signs before its successor does. */
  readonly rotateEverySec: number
  /** How long the longest-lived thing that a key signs is good. */
  readonly tokenLifetimeSec: number
}

export type KeyState = 'next' | 'signing' | 'retiring' | 'gone'

/** How long others may keep our key set: the `max-age` of that answer. */
export const keySetMaxAgeSec = 300
/** How often every process reads the keys anew. */
export const readEveryMs = 10_000

/** By then every process has a key that is stored now: one reading later, and five seconds for slow ones and other clocks. */
export const spreadMs = readEveryMs + 5_000

/**
 * From its storing to its first use: until the last process has it, answers with the key set still lack it, and the
 * last of those may be kept for `keySetMaxAgeSec` more. 315 seconds.
 */
export const publicationMs = spreadMs + keySetMaxAgeSec * 1000

/** How far the clocks of those who sign and those who check may be apart. */
const skewMs = 60_000

export const keyPolicyOf = (options: Pick<OAuthOptions, 'accessToken' | 'clients' | 'keys'>): KeyPolicy => ({
  algorithms: signingAlgsOf(options),
  rotateEverySec: options.keys.rotateEverySec,
  tokenLifetimeSec: options.accessToken.lifetimeSec,
})

/** Every algorithm that something is signed with under this configuration. */
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

/** From when on it signs. */
export const activeAtMs = (key: KeyRecord): number => key.activeAtMs ?? key.createdAtMs

/** Sorts by the order in which keys sign. Those of one instant have an order too, the same in every process. */
export const byActivation = (a: KeyRecord, b: KeyRecord): number =>
  activeAtMs(a) - activeAtMs(b) || (a.kid < b.kid ? -1 : 1)

export const stateOf = (key: KeyRecord, keys: readonly KeyRecord[], policy: KeyPolicy, nowMs: number): KeyState => {
  if (nowMs >= publishedUntilMs(key, keys, policy)) return 'gone'
  if (nowMs >= signsUntilMs(key, keys, policy) || !isUsed(key.alg, policy)) return 'retiring'
  return nowMs < activeAtMs(key) ? 'next' : 'signing'
}

/** When the last token it signed has expired, on every clock; Infinity while nobody is to follow it. */
export const publishedUntilMs = (key: KeyRecord, keys: readonly KeyRecord[], policy: KeyPolicy): number =>
  signsUntilMs(key, keys, policy) + policy.tokenLifetimeSec * 1000 + skewMs

const signsUntilMs = (key: KeyRecord, keys: readonly KeyRecord[], policy: KeyPolicy): number => {
  const successor = keys.filter(other => other.alg === key.alg && byActivation(key, other) < 0).sort(byActivation)[0]
  if (successor) return activeAtMs(successor)
  if (isUsed(key.alg, policy)) return Number.POSITIVE_INFINITY
  // Nothing is signed by this algorithm here. Another process may be configured otherwise, but then it rotates in time.
  return activeAtMs(key) + policy.rotateEverySec * 1000 + publicationMs
}

const isUsed = (alg: string, { algorithms }: KeyPolicy): boolean => algorithms.some(used => used === alg)

/** When a successor has to be published, so that the newest key of an algorithm signs no longer than it should. */
export const successorDueAtMs = (newest: KeyRecord, { rotateEverySec }: KeyPolicy): number =>
  activeAtMs(newest) + rotateEverySec * 1000 - publicationMs
