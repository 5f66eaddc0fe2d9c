import type { Agreed } from '../../stores/ports/token-draft.ts'
import type { RedemptionDeps } from './grant.ts'

/**
 * Whether the person who agreed gets no more tokens: the configuration has the person no longer, or a client has the person's
 * `sub` as its id since, so that the two could be taken for each other (RFC 9700 section 4.15). With a hand-off, only the
 * operator's own login knows which people there are.
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
