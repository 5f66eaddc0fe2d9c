import type { ClientSecret } from './metadata.ts'

/** How a secret is stored: in the configuration itself, or as one of the two kinds of hashes. */
export type SecretKind = 'plain' | 'quick' | 'slow'

export const secretKindOf = ({ kind, value }: ClientSecret): SecretKind => {
  if (kind === 'plain') return 'plain'
  return secretKindOfHash(value.reveal())
}

export const secretKindOfHash = (stored: string): Exclude<SecretKind, 'plain'> =>
  stored.startsWith('scrypt$') ? 'slow' : 'quick'
