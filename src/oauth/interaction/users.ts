import type { Secret } from '../../secret.ts'
import type { Digest } from '../opaque-token.ts'
import type { User } from '../options.ts'
import { costlierOf, usualCost } from '../secrets/scrypt-cost.ts'
import type { SecretOwner } from '../secrets/scrypt-queue.ts'
import { costOfHash, newUnmatchedHash, verifySecretHash } from '../secrets/secret-hash.ts'

/** A user of the configuration whose password was verified. */
export interface AuthenticatedUser {
  readonly username: string
  readonly sub: string
}

/** The users that may sign in on the embedded pages. */
export interface Users {
  /**
   * The user, or undefined for an unknown username and a wrong password alike. Both take the same time, which is that
   * of the costliest hash of all users.
   * @param from the address that sent the password
   * @throws OAuthError temporarily_unavailable when too many passwords are being checked.
   */
  verify(username: string, password: Secret, from: string): Promise<AuthenticatedUser | undefined>
  /** The subject of the user with this name, for the operator's log. An unknown name takes as long. */
  subOf(username: string): string | undefined
}

export const createUsers = (users: readonly User[], digest: Digest): Users => {
  const byName = new Map(users.map(user => [user.username, user]))
  const costs = users.map(user => costOfHash(user.password_hash.reveal()))
  const wrongCost = costs.reduce(costlierOf, undefined) ?? usualCost
  const unmatched = newUnmatchedHash('slow', wrongCost)
  return {
    verify: async (username, password, from) => {
      const user = byName.get(username)
      const owner: SecretOwner = { kind: 'person', account: username, address: from }
      const right = await verifySecretHash({ secret: password, owner, wrongCost }, user?.password_hash ?? unmatched)
      return right && user ? { username, sub: user.sub ?? opaqueSub(username, digest) } : undefined
    },
    subOf: username => {
      const opaque = opaqueSub(username, digest)
      const user = byName.get(username)
      return user && (user.sub ?? opaque)
    },
  }
}

/**
 * The subject of a user whose entry has none. The digest is keyed with the store's own key, so the subject is stable
 * and does not reveal the username.
 */
export const opaqueSub = (username: string, digest: Digest): string => digest(`sub\0${username}`)
