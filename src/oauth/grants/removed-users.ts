import type { Agreed } from '../../stores/ports/wanted-token.ts'
import type { OAuthOptions } from '../options.ts'

/**
 * Whether the person who agreed has been removed from the configuration since. Codes and refresh tokens of such a person
 * are refused. With a hand-off, the operator's own login knows the people, and Sidegate does not.
 */
export type RemovedUserCheck = (agreed: Agreed) => boolean

export const createRemovedUserCheck = ({ login, users }: Pick<OAuthOptions, 'login' | 'users'>): RemovedUserCheck => {
  if (login.mode === 'handoff') return () => false
  const usernames = new Set(users.map(user => user.username))
  return ({ username }) => username !== undefined && !usernames.has(username)
}
