import type { Clock } from '../../clock.ts'
import type { AccessTokenRecord } from '../ports/tokens.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'

/** Writes the row of one opaque access token: by itself, or in the same step as its grant. */
export type TokenWriter = (grantId: string, digest: string, record: AccessTokenRecord, untilMs: number) => void

export const createTokenWriter = (db: Database, clock: Clock): TokenWriter => {
  const insert = db.prepare(
    'INSERT OR REPLACE INTO access_tokens (digest, grant_id, record, until_ms) VALUES (?, ?, ?, ?)',
  )
  const cleanUp = createCleanup(db, clock, 'access_tokens')
  return (grantId, digest, record, untilMs) => {
    insert.run(digest, grantId, JSON.stringify(record), untilMs)
    cleanUp()
  }
}
