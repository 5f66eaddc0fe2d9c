import { costlierOf, type ScryptCost } from '../secrets/scrypt-cost.ts'
import { costOfHash } from '../secrets/secret-hash.ts'
import type { ClientSecret } from './metadata.ts'

/** How a secret is stored: in the configuration itself, or as one of the two kinds of hashes. */
export type SecretKind = 'plain' | 'quick' | 'slow'

export const secretKindOf = ({ kind, value }: ClientSecret): SecretKind => {
  if (kind === 'plain') return 'plain'
  return secretKindOfHash(value.reveal())
}

export const secretKindOfHash = (stored: string): Exclude<SecretKind, 'plain'> =>
  stored.startsWith('scrypt$') ? 'slow' : 'quick'

/** The secrets that are compared for each client before its secret is refused. */
export interface MostSecrets extends Readonly<Record<SecretKind, number>> {
  /** The costliest parameters of a slow form; left out if there is none. */
  readonly slowCost?: ScryptCost
}

export const noSecrets: MostSecrets = { plain: 0, quick: 0, slow: 0 }

/** The secrets of one client. */
export const countSecrets = (hashes: readonly string[], plain = 0): MostSecrets => {
  const count = { plain, quick: 0, slow: 0 }
  let slowCost: ScryptCost | undefined
  for (const hash of hashes) {
    const form = secretKindOfHash(hash)
    count[form]++
    if (form === 'slow') slowCost = costlierOf(slowCost, costOfHash(hash))
  }
  return slowCost ? { ...count, slowCost } : count
}

/** The larger of each member; `one` itself if `other` exceeds it in none. */
export const joinMost = (one: MostSecrets, other: MostSecrets): MostSecrets => {
  const slowCost = costlierOf(one.slowCost, other.slowCost)
  const isSame = forms.every(form => other[form] <= one[form]) && slowCost === one.slowCost
  if (isSame) return one
  const [plain, quick, slow] = forms.map(form => Math.max(one[form], other[form])) as [number, number, number]
  return { plain, quick, slow, ...(slowCost && { slowCost }) }
}

const forms = ['plain', 'quick', 'slow'] as const
