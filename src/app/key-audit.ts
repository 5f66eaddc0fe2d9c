import type { KeyChange } from '../oauth/keys/key-changes.ts'
import type { OnChange } from './on-change.ts'

/** What becomes of signing keys, as audit lines. */
export const auditKeys =
  (onChange: OnChange): ((change: KeyChange) => void) =>
  ({ kid, alg, became, activeAtMs }) => {
    const id = `key ${kid} ${became}`
    if (became !== 'published') onChange(id, { action: `key_${became}`, kid, alg })
    else onChange(id, { action: 'key_published', kid, alg, active_at: new Date(activeAtMs).toISOString() })
  }
