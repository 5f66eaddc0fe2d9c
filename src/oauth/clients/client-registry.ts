import type { InternedMetadata } from './interned-metadata.ts'
import type { ClientRegistration } from './metadata.ts'
import type { MaxSecretsPerKind } from './secret-kinds.ts'

/** Every client that is served: those of the configuration and those of the store, except disabled ones. */
export interface ClientRegistry extends ClientFacts {
  /** Returns the same object for a client_id until the client changes. After the first call this is one map look-up. */
  find(client_id: string): ClientRegistration | undefined
  /** Whether a client has this id. A disabled client counts too. */
  has(client_id: string): boolean
}

/** The facts that the server must know of all clients without reading each of them. */
export interface ClientFacts {
  /** The metadata of every client without the client's own members; clients with equal metadata share one object. */
  readonly internedMetadata: readonly InternedMetadata[]
  /**
   * For each kind of secret the number of secrets of the client that has the most, and the costliest scrypt
   * parameters.
   */
  readonly maxSecretsPerKind: MaxSecretsPerKind
}
