import { hash, timingSafeEqual } from 'node:crypto'
import { Secret } from '../../secret.ts'
import type { ClientRegistration } from '../options.ts'
import { unmatchedGeneratedHash, unmatchedSecretHash, verifySecretHash } from '../secrets/secret-hash.ts'
import { type MaybePromise, whenKnown } from '../when-known.ts'

/**
 * Whether the presented secret is the client's. Without a client, or with one that has no secret, the answer is false.
 * Every false answer costs the same, so that time does not tell which clients exist (RFC 6749 section 10.10): each form
 * that any client's secret is stored in is compared, with one that nothing matches where the form is not this client's.
 */
export type SecretCheck = (client: ClientRegistration | undefined, presented: string) => MaybePromise<boolean>

export const createSecretCheck = (registrations: readonly ClientRegistration[]): SecretCheck => {
  const storedSecrets = new Map(registrations.flatMap(toStored))
  const forms = new Set([...storedSecrets.values()].map(stored => stored.form))

  return (client, presented) => {
    const stored = storedSecrets.get(client?.client_id ?? '')
    if (matchesPlain(stored, presented)) return true
    if (forms.has('quick') && matchesQuick(stored, presented)) return true
    return forms.has('slow') ? matchesSlow(stored, presented) : false
  }
}

/** A client's secret as it is at hand: a digest of the secret itself, or one of the two stored forms. */
type Stored =
  | { readonly form: 'plain'; readonly digest: Buffer }
  | { readonly form: 'quick' | 'slow'; readonly hash: Secret }

const toStored = ({ client_id, secrets: [secret] }: ClientRegistration): readonly (readonly [string, Stored])[] => {
  if (secret === undefined) return []
  if (secret.kind === 'plain') return [[client_id, { form: 'plain', digest: digestOf(secret.value.reveal()) }]]
  const form = secret.value.reveal().startsWith('scrypt$') ? 'slow' : 'quick'
  return [[client_id, { form, hash: secret.value }]]
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')

const unmatchedDigest = digestOf('')

const matchesPlain = (stored: Stored | undefined, presented: string): boolean => {
  const own = stored?.form === 'plain' ? stored.digest : undefined
  // Equal digests of unequal lengths' texts do not exist, so the comparison tells nothing about the length either.
  return timingSafeEqual(digestOf(presented), own ?? unmatchedDigest) && own !== undefined
}

const matchesQuick = (stored: Stored | undefined, presented: string): boolean => {
  const own = stored?.form === 'quick' ? stored.hash : undefined
  return verifySecretHash(new Secret(presented), own ?? unmatchedGeneratedHash) === true && own !== undefined
}

const matchesSlow = (stored: Stored | undefined, presented: string): MaybePromise<boolean> => {
  const own = stored?.form === 'slow' ? stored.hash : undefined
  const isMatch = verifySecretHash(new Secret(presented), own ?? unmatchedSecretHash)
  return whenKnown(isMatch, matches => matches && own !== undefined)
}
