import { hash, timingSafeEqual } from 'node:crypto'
import { Secret } from '../../secret.ts'
import type { ClientRegistration } from '../options.ts'
import { unmatchedSecretHash, verifySecretHash } from '../secrets/secret-hash.ts'
import { type MaybePromise, whenKnown } from '../when-known.ts'

/**
 * Whether the presented secret is the client's. Without a client, or with one that has no secret, the answer is false
 * and costs as much as a wrong secret does, so that time does not tell which clients exist (RFC 6749 section 10.10).
 */
export type SecretCheck = (client: ClientRegistration | undefined, presented: string) => MaybePromise<boolean>

export const createSecretCheck = (registrations: readonly ClientRegistration[]): SecretCheck => {
  const digests = new Map(registrations.flatMap(plainDigest))
  const unmatchedDigest = digestOf('')
  // Where one client's failure costs a slow hash, every failure does.
  const failuresAreSlow = registrations.some(hasSlowHash)

  return (client, presented) => {
    const stored = client?.secret
    // Equal digests of unequal lengths' texts do not exist, so the comparison tells nothing about the length either.
    const isPlainMatch = timingSafeEqual(digestOf(presented), digests.get(client?.client_id ?? '') ?? unmatchedDigest)
    if (stored?.kind === 'plain' && isPlainMatch) return true
    if (stored?.kind !== 'hash') return failuresAreSlow ? failSlowly(presented) : false
    const isMatch = verifySecretHash(new Secret(presented), stored.value)
    if (hasSlowHash(client)) return isMatch
    return whenKnown(isMatch, matches => matches || (failuresAreSlow ? failSlowly(presented) : false))
  }
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')

const plainDigest = ({ client_id, secret }: ClientRegistration): readonly (readonly [string, Buffer])[] =>
  secret?.kind === 'plain' ? [[client_id, digestOf(secret.value.reveal())]] : []

const hasSlowHash = (client: ClientRegistration | undefined): boolean =>
  client?.secret?.kind === 'hash' && client.secret.value.reveal().startsWith('scrypt$')

const failSlowly = async (presented: string): Promise<false> => {
  await verifySecretHash(new Secret(presented), unmatchedSecretHash)
  return false
}
