import type { NotBefore } from '../stores/ports/not-before.ts'
import type { OnChange } from './on-change.ts'

/** What an operator revoked by `sidegate tokens revoke`, as audit lines. */
export const auditCutoffs =
  (onChange: OnChange) =>
  ({ client_id, sub, throughSec }: NotBefore): void =>
    onChange(`cutoff ${JSON.stringify([client_id, sub, throughSec])}`, {
      action: 'tokens_revoked',
      reason: 'operator',
      ...(client_id !== undefined && { client_id }),
      ...(sub !== undefined && { sub }),
    })
