import type { Clock } from '../../clock.ts'
import type { GrantRecord } from '../ports/grant-record.ts'
import type { AccessTokenRecord, FoundToken, TokenStore } from '../ports/tokens.ts'
import { completeToken, type TokenDraft } from '../ports/wanted-token.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { lifetimeMs } from './lifetime.ts'
import { names } from './names.ts'
import { findAnyScript, findScript } from './token-scripts.ts'

export const createTokens = (connection: RedisConnection, clock: Clock): TokenStore => {
  const find = defineScript(connection, 'sidegateTokenFind', 2, findScript)
  const findAny = defineScript(connection, 'sidegateTokenFindAny', 3, findAnyScript)
  return {
    save: async (grantId, digest, record, untilMs) => {
      const lifetime = lifetimeMs(clock, untilMs)
      await answered(connection.set(names.token(grantId, digest), JSON.stringify(record), 'PX', lifetime))
    },
    find: async (grantId, digest) => {
      const found = await find(names.token(grantId, digest), names.revoked(grantId), grantId)
      return typeof found === 'string' ? toRecord(found) : undefined
    },
    findAny: async (grantId, digest) => {
      const keys = [names.grant(grantId), names.revoked(grantId), names.token(grantId, digest)] as const
      return toFoundToken(await findAny(...keys, grantId, clock.nowMs(), digest))
    },
    remove: async (grantId, digest) => void (await answered(connection.del(names.token(grantId, digest)))),
  }
}

/** A token is kept whole, or as the texts that it is made of: the scripts put them side by side. */
const toRecord = (text: string): AccessTokenRecord => {
  const kept = JSON.parse(text) as AccessTokenRecord | KeptInParts
  return 'draft' in kept ? completeToken(kept.draft, { ...kept.grant, untilMs: kept.untilMs }) : kept
}

interface KeptInParts {
  readonly draft: TokenDraft
  readonly grant: GrantRecord
  /** When the grant ends, and the token with it. */
  readonly untilMs: number
}

const toFoundToken = (answer: unknown): FoundToken | undefined => {
  if (answer === null) return undefined
  const [kind, text = '', untilMs, createdAtMs, binding] = answer as readonly (string | null)[]
  if (kind === 'access') return { kind, record: toRecord(text ?? '') }
  const record = JSON.parse(text ?? '') as GrantRecord
  const instants = { createdAtMs: Number(createdAtMs), untilMs: Number(untilMs) }
  return { kind: 'refresh', record, ...(typeof binding === 'string' && { binding }), ...instants }
}
