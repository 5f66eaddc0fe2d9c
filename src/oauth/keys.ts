import type { KeyObject } from 'node:crypto'
import type { Digest } from './code.ts'

/** The signing keys and the digest key, loaded from the store and shared by all workers. */
export interface KeyRing {
  /** The key to sign access tokens with now. */
  current(): SigningKey
  /** A verification key by its kid, or undefined. */
  find(kid: string): SigningKey | undefined
  /** RFC 7517 public key set. */
  publicJwks(): { readonly keys: readonly Readonly<Record<string, unknown>>[] }
  /** HMAC-SHA-256 under the store's own digest key. */
  readonly digest: Digest
}

export interface SigningKey {
  readonly kid: string
  readonly alg: 'ES256'
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}
