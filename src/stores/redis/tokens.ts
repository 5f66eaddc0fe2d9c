import type { Clock } from '../../clock.ts'
import type { GrantRecord } from '../ports/grant-record.ts'
import { completeToken, type TokenDraft } from '../ports/token-draft.ts'
import type { AccessTokenRecord, FoundToken, TokenStore } from '../ports/tokens.ts'
import { createBatcher } from './batcher.ts'
import { answered, defineScript, type RedisConnection, toUnavailable } from './connection.ts'
import { createScriptCaller, toBulks } from './raw-evalsha.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'
import { findAnyScript, findScript } from './token-scripts.ts'

export const createTokens = (connection: RedisConnection, clock: Clock): TokenStore => {
  const find = defineScript(connection, 'sidegateTokenFind', 2, findScript)
  const findAny = createTokenLookup(connection, clock)
  return {
    save: async (grantId, digest, record, untilMs) => {
      const lifetime = ttlMs(clock, untilMs)
      await answered(connection.set(redisKeys.token(grantId, digest), JSON.stringify(record), 'PX', lifetime))
    },
    find: async (grantId, digest) => {
      const found = await find(redisKeys.token(grantId, digest), redisKeys.revoked(grantId), grantId)
      return typeof found === 'string' ? toRecord(found) : undefined
    },
    findAny: async (grantId, digest) => toFoundToken(await findAny({ grantId, digest })),
    remove: async (grantId, digest) => void (await answered(connection.del(redisKeys.token(grantId, digest)))),
  }
}

/** A token that a client presents. */
interface Presented {
  readonly grantId: string
  readonly digest: string
}

type TokenAnswer = readonly (Buffer | null)[] | null

/** Most tokens in one call. They take Redis less than a millisecond. */
const maxBatchSize = 100

/**
 * Looks up all tokens of a turn of the event loop in one call. It is sent after the readable sockets of that turn were
 * read.
 */
const createTokenLookup = (
  connection: RedisConnection,
  clock: Clock,
): ((presented: Presented) => Promise<TokenAnswer>) => {
  const script = createScriptCaller<readonly TokenAnswer[]>(connection, findAnyScript)
  const prefix = connection.options.keyPrefix ?? ''
  const keyOf = ({ grantId }: Presented): string => `${prefix}${redisKeys.grant(grantId)}`
  const keysOf = (presented: Presented): readonly string[] => {
    const { grantId, digest } = presented
    return [keyOf(presented), `${prefix}${redisKeys.revoked(grantId)}`, `${prefix}${redisKeys.token(grantId, digest)}`]
  }
  return createBatcher<Presented, readonly TokenAnswer[], TokenAnswer>(connection, {
    schedule: setImmediate,
    maxBatchSize,
    keyOf,
    call: tokens => {
      const keys = tokens.flatMap(keysOf)
      const terms = [clock.nowMs(), ...tokens.flatMap(({ grantId, digest }) => [grantId, digest])]
      return script.call(keys[0] ?? '', keys.length, keys.length + terms.length, `${toBulks(keys)}${toBulks(terms)}`)
    },
    answerAt: (answers, index) => answers[index] ?? null,
    toError: toUnavailable,
  })
}

/** A token is stored whole, or as the texts that it consists of, which the scripts join. */
const toRecord = (text: string): AccessTokenRecord => {
  const kept = JSON.parse(text) as AccessTokenRecord | KeptInParts
  return 'draft' in kept ? completeToken(kept.draft, { ...kept.grant, untilMs: kept.untilMs }) : kept
}

interface KeptInParts {
  readonly draft: TokenDraft
  readonly grant: GrantRecord
  /** When the grant and its token expire. */
  readonly untilMs: number
}

const toFoundToken = (answer: TokenAnswer): FoundToken | undefined => {
  if (answer === null) return undefined
  const [kind, text, untilMs, createdAtMs, binding] = answer.map(value => value?.toString())
  if (kind === 'access') return { kind, record: toRecord(text ?? '') }
  const record = JSON.parse(text ?? '') as GrantRecord
  const instants = { createdAtMs: Number(createdAtMs), untilMs: Number(untilMs) }
  return { kind: 'refresh', record, ...(binding !== undefined && { binding }), ...instants }
}
