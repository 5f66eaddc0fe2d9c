import type { Agreed } from '../../stores/ports/token-draft.ts'
import type { RedemptionDeps } from './grant.ts'

/**
 * Whether the user of an agreement gets no further tokens: the user was removed from the configuration, or a client
 * has the user's `sub` as its client_id now, so that the two could be confused (RFC 9700 section 4.15). In hand-off
 * mode only the operator's login application knows the users.
 */
export type RemovedUserCheck = (agreed: Agreed) => boolean

export const createRemovedUserCheck = ({
  options,
  clients,
}: Pick<RedemptionDeps, 'options' | 'clients'>): RemovedUserCheck => {
  if (options.login.mode === 'handoff') return ({ sub }) => clients.has(sub)
  const usernames = new Set(options.users.map(user => user.username))
  return ({ sub, username }) => clients.has(sub) || (username !== undefined && !usernames.has(username))
}
