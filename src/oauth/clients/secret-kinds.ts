import { costlierOf, type ScryptCost } from '../secrets/scrypt-cost.ts'
import { costOfHash } from '../secrets/secret-hash.ts'
import type { ClientSecret } from './metadata.ts'

/** How a secret is stored: as plain text in the configuration, as a quick hash or as a slow hash. */
export type SecretKind = 'plain' | 'quick' | 'slow'

export const secretKindOf = ({ kind, value }: ClientSecret): SecretKind => {
  if (kind === 'plain') return 'plain'
  return secretKindOfHash(value.reveal())
}

export const secretKindOfHash = (stored: string): Exclude<SecretKind, 'plain'> =>
  stored.startsWith('scrypt$') ? 'slow' : 'quick'

/** The number of secrets of each kind that are compared before a client's secret is refused. */
export interface MaxSecretsPerKind extends Readonly<Record<SecretKind, number>> {
  /** The costliest parameters of a slow hash; left out if there is no slow hash. */
  readonly slowCost?: ScryptCost
}

export const noSecrets: MaxSecretsPerKind = { plain: 0, quick: 0, slow: 0 }

/** The secrets of one client. */
export const countSecrets = (hashes: readonly string[], plain = 0): MaxSecretsPerKind => {
  const count = { plain, quick: 0, slow: 0 }
  let slowCost: ScryptCost | undefined
  for (const hash of hashes) {
    const kind = secretKindOfHash(hash)
    count[kind]++
    if (kind === 'slow') slowCost = costlierOf(slowCost, costOfHash(hash))
  }
  return slowCost ? { ...count, slowCost } : count
}

/** The maximum of each member; `one` itself if `other` exceeds it in none. */
export const maxPerKind = (one: MaxSecretsPerKind, other: MaxSecretsPerKind): MaxSecretsPerKind => {
  const slowCost = costlierOf(one.slowCost, other.slowCost)
  const isSame = secretKinds.every(kind => other[kind] <= one[kind]) && slowCost === one.slowCost
  if (isSame) return one
  const [plain, quick, slow] = secretKinds.map(kind => Math.max(one[kind], other[kind])) as [number, number, number]
  return { plain, quick, slow, ...(slowCost && { slowCost }) }
}

const secretKinds = ['plain', 'quick', 'slow'] as const
