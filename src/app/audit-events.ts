import { isDeepStrictEqual } from 'node:util'
import type { ClientMembers, StoredClient } from '../oauth/clients/stored-clients.ts'
import type { KeyChange } from '../oauth/keys/key-changes.ts'
import { ownMember } from '../own-member.ts'
import type { ClientChange } from '../stores/ports/clients.ts'
import type { NotBefore } from '../stores/ports/not-before.ts'
import type { AuditEntry } from '../telemetry/audit.ts'

/**
 * Called when an operator changed something in the store, or when a key changed with time. Every process sees the
 * change, and the primary logs it once.
 * @param id the same for the same change in every process, and different for every other change: such as `client 7`
 */
export type OnChange = (id: string, entry: AuditEntry) => void

/** Changes of signing keys, as audit lines. */
export const auditKeys =
  (onChange: OnChange): ((change: KeyChange) => void) =>
  ({ kid, alg, became, activeAtMs }) => {
    const id = `key ${kid} ${became}`
    if (became !== 'published') onChange(id, { action: `key_${became}`, kid, alg })
    else onChange(id, { action: 'key_published', kid, alg, active_at: new Date(activeAtMs).toISOString() })
  }

/** Revocations by `sidegate tokens revoke`, as audit lines. */
export const auditCutoffs =
  (onChange: OnChange) =>
  ({ client_id, sub, throughSec }: NotBefore): void =>
    onChange(`cutoff ${JSON.stringify([client_id, sub, throughSec])}`, {
      action: 'tokens_revoked',
      reason: 'operator',
      ...(client_id !== undefined && { client_id }),
      ...(sub !== undefined && { sub }),
    })

type What =
  | { readonly action: 'client_created' | 'client_deleted' | 'client_disabled' | 'client_enabled' }
  | { readonly action: 'client_changed'; readonly reason: 'secret' | 'members' }

/** Changes of clients in the store, as audit lines. */
export const auditClients =
  (onChange: OnChange) =>
  ({ client_id, version }: ClientChange, before: StoredClient | undefined, after: StoredClient | undefined): void => {
    for (const what of findChanges(before, after))
      onChange(`client ${client_id} ${version} ${what.action}`, { ...what, client_id })
  }

/** A change may be reported twice, and then the second report contains no difference. */
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
