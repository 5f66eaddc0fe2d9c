import { Secret } from '../../secret.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Parameters } from '../forms/parameters.ts'
import type { SignIn } from '../protocol.ts'
import { type AuthenticatedUser, createUsers } from './users.ts'

/** A username and a password as the sign-in form sent them, not verified yet. */
export interface PasswordAttempt {
  readonly username: string
  readonly password: Secret
  readonly address: string
  /** The address under which failures are counted. */
  readonly from: string
  /** The name under which failures are counted: of bounded length, and never the id of a client. */
  readonly name: string
}

/** Verifies passwords under a rate limit per username and IP address. */
export interface PasswordCheck {
  /**
   * Runs `check` after the earlier checks of this username and address.
   * @throws OAuthError temporarily_unavailable when too many passwords are being checked; what `check` throws
   */
  inTurn<T>(form: Parameters, address: string, check: (attempt: PasswordAttempt) => Promise<T>): Promise<T>
  /** The wait in milliseconds while passwords for this username and address are refused without a check, else 0. */
  blockedMs(attempt: PasswordAttempt): number
  /** The user, or undefined for an unknown username and for a wrong password. */
  verify(attempt: PasswordAttempt): Promise<AuthenticatedUser | undefined>
  /** Counts a wrong password. The wait is in milliseconds, and 0 if there were not too many. */
  countFailure(attempt: PasswordAttempt): Promise<{ readonly waitMs: number; readonly signIn: SignIn }>
}

export const createPasswordCheck = ({ options, failures, keys }: OAuthDeps): PasswordCheck => {
  const users = createUsers(options.users, keys.digest)
  return {
    inTurn: async (form, address, check) => {
      const attempt = readAttempt(form, address, keys.digest)
      return failures.inTurn(attempt.name, address, from => check({ ...attempt, from }))
    },
    blockedMs: ({ name, address }) => failures.blockedMs(name, address),
    verify: async ({ name, username, password, address, from }) => {
      const user = await users.verify(username, password, from)
      if (user) failures.proven(name, address)
      return user
    },
    countFailure: async ({ name, username, address }) => {
      const waitMs = await failures.count(name, address)
      return { waitMs, signIn: { outcome: waitMs > 0 ? 'blocked' : 'refused', sub: users.subOf(username) } }
    },
  }
}

const readAttempt = (
  form: Parameters,
  address: string,
  digest: (text: string) => string,
): Omit<PasswordAttempt, 'from'> => {
  const username = form.get('username') ?? ''
  return {
    username,
    password: new Secret(form.get('password') ?? ''),
    address,
    name: `user:${digest(username)}`,
  }
}
