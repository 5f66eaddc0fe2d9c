import { isDeepStrictEqual } from 'node:util'
import type { ClientMembers, StoredClient } from '../oauth/clients/stored-clients.ts'
import { ownMember } from '../own-member.ts'
import type { ClientChange } from '../stores/ports/clients.ts'
import type { OnChange } from './on-change.ts'

type What =
  | { readonly action: 'client_created' | 'client_deleted' | 'client_disabled' | 'client_enabled' }
  | { readonly action: 'client_changed'; readonly reason: 'secret' | 'members' }

/** What operators do with clients of the store, as audit lines. */
export const auditClients =
  (onChange: OnChange) =>
  ({ client_id, version }: ClientChange, before: StoredClient | undefined, after: StoredClient | undefined): void => {
    for (const what of findChanges(before, after))
      onChange(`client ${client_id} ${version} ${what.action}`, { ...what, client_id })
  }

/** A change may be shown again, and then nothing has changed. */
const findChanges = (before: StoredClient | undefined, after: StoredClient | undefined): readonly What[] => {
  const [then, now] = [before?.members(), after?.members()]
  const [wasDisabled, isDisabled] = [before?.disabled ?? false, after?.disabled ?? false]
  if (then && !now) return [{ action: 'client_deleted' }]
  const made = now && findMade(then, now)
  const turned: What = { action: isDisabled ? 'client_disabled' : 'client_enabled' }
  return [...(made ? [made] : []), ...(wasDisabled === isDisabled ? [] : [turned])]
}

const findMade = (then: ClientMembers | undefined, now: ClientMembers): What | undefined => {
  if (!then) return { action: 'client_created' }
  if (isDeepStrictEqual(then, now)) return undefined
  const isSecret = secretMembers.some(name => !isDeepStrictEqual(ownMember(then, name), ownMember(now, name)))
  return { action: 'client_changed', reason: isSecret ? 'secret' : 'members' }
}

const secretMembers = ['client_secret_hash', 'client_secrets']
