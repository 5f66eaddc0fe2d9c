import type { ClientSecret } from '../options.ts'

/** How a secret is stored: in the configuration itself, or as one of the two kinds of hashes. */
export type SecretForm = 'plain' | 'quick' | 'slow'

export const formOf = ({ kind, value }: ClientSecret): SecretForm => {
  if (kind === 'plain') return 'plain'
  return formOfHash(value.reveal())
}

export const formOfHash = (stored: string): Exclude<SecretForm, 'plain'> =>
  stored.startsWith('scrypt$') ? 'slow' : 'quick'
