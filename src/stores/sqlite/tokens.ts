import type { Clock } from '../../clock.ts'
import type { AccessTokenRecord, TokenStore } from '../ports/tokens.ts'
import { toFoundRefresh } from '../shared/grant-rules.ts'
import type { Database } from './database.ts'
import { createGrantFinder } from './grant-rows.ts'
import { createTokenWriter } from './token-rows.ts'

export const createTokens = (db: Database, clock: Clock): TokenStore => {
  const save = createTokenWriter(db, clock)
  const select = db.prepare<{ readonly record: string }>(`
    SELECT record FROM access_tokens WHERE digest = ?1 AND grant_id = ?2 AND until_ms > ?3
    AND NOT EXISTS (SELECT 1 FROM revocations WHERE id IN (?2, record ->> 'jti') AND until_ms > ?3)`)
  const remove = db.prepare('DELETE FROM access_tokens WHERE digest = ? AND grant_id = ?')
  const findGrant = createGrantFinder(db, clock)
  const find = (grantId: string, digest: string): AccessTokenRecord | undefined => {
    const row = select.get(digest, grantId, clock.nowMs())
    return row && (JSON.parse(row.record) as AccessTokenRecord)
  }
  return {
    save: async (grantId, digest, record, untilMs) => save(grantId, digest, record, untilMs),
    find: async (grantId, digest) => find(grantId, digest),
    findAny: async (grantId, digest) => {
      const record = find(grantId, digest)
      if (record) return { kind: 'access', record }
      const grant = findGrant(grantId)
      return grant?.refreshDigest === digest ? toFoundRefresh(grant) : undefined
    },
    remove: async (grantId, digest) => void remove.run(digest, grantId),
  }
}
