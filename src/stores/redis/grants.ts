import type { Clock } from '../../clock.ts'
import type { GrantRecord } from '../ports/grant-record.ts'
import type { GrantState } from '../ports/grant-state.ts'
import type { CurrentRefresh, GrantStore, RedemptionOutcome, RefreshOutcome, ScopeExceeded } from '../ports/grants.ts'
import type { TokenToStore } from '../ports/token-draft.ts'
import { newGrantState } from '../shared/grant-rules.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { createScript, currentRefreshScript, redeemScript, refreshScript } from './grant-scripts.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'

export const createGrants = (connection: RedisConnection, clock: Clock): GrantStore => {
  const create = defineScript(connection, 'sidegateGrantCreate', 1, createScript)
  const redeem = defineScript(connection, 'sidegateGrantRedeem', 3, redeemScript)
  const refresh = defineScript(connection, 'sidegateGrantRefresh', 3, refreshScript)
  const findCurrent = defineScript(connection, 'sidegateGrantCurrentRefresh', 2, currentRefreshScript)
  const keysOf = (grantId: string, token: TokenToStore | undefined): readonly string[] => {
    return [redisKeys.grant(grantId), redisKeys.revoked(grantId), redisKeys.token(grantId, token?.digest ?? '')]
  }
  /** The requested resources; the token to store, or nothing; the token's lifetime, or nothing without a token. */
  const toArguments = (token: TokenToStore | undefined): readonly (string | number)[] => {
    if (token === undefined) return ['', '', '']
    const { digest, draft } = token
    return [
      draft.resources.join(' '),
      digest === undefined ? '' : JSON.stringify(draft),
      ttlMs(clock, draft.exp * 1000),
    ]
  }
  const write = async (grantId: string, state: GrantState): Promise<void> => {
    await create(redisKeys.grant(grantId), ttlMs(clock, state.untilMs), ...toFields(state))
  }
  return {
    create: grant => write(grant.grantId, newGrantState(grant)),
    redeem: async ({ grantId, codeDigest, codeProofs, nowMs, refreshDigest, binding, untilMs, token }) => {
      const wanted = [grantId, nowMs, ...toArguments(token)]
      const code = [codeDigest, ttlMs(clock, untilMs), untilMs, refreshDigest ?? '', binding ?? '']
      return toRedemption(await redeem(...keysOf(grantId, token), ...wanted, ...code, ...codeProofs))
    },
    refresh: async attempt => {
      const { grantId, nowMs, client_id, digest, untilMs, token } = attempt
      const wanted = [grantId, nowMs, ...toArguments(token)]
      const rotation = [attempt.successorDigest ?? '', attempt.reuseWindowMs, ttlMs(clock, untilMs), untilMs]
      const demands = [(attempt.scopes ?? []).join(' '), ...attempt.bindings]
      return toRefresh(await refresh(...keysOf(grantId, token), ...wanted, client_id, digest, ...rotation, ...demands))
    },
    findCurrentRefresh: async (grantId, client_id) => {
      const keys = [redisKeys.grant(grantId), redisKeys.revoked(grantId)] as const
      const found = await findCurrent(...keys, grantId, clock.nowMs(), client_id)
      return found === null ? undefined : toCurrentRefresh(found)
    },
    remove: async grantId => void (await answered(connection.del(redisKeys.grant(grantId)))),
    adopt: write,
  }
}

/** Fields of the hash, each with its value. */
const toFields = (state: GrantState): readonly (string | number)[] => {
  const { record, refreshDigest, binding, previousDigest, longestTokenSec } = state
  return [
    ...['record', JSON.stringify(record), 'client', record.client_id, 'until', state.untilMs],
    ...['code', state.codeDigest, 'proof', state.codeProof, 'codeExpiresAt', state.codeExpiresAtMs],
    ...['spent', state.spent ? 1 : 0, 'failures', state.failures],
    ...['refreshedAt', state.refreshedAtMs, 'generation', state.generation],
    ...(refreshDigest === undefined ? [] : ['refresh', refreshDigest]),
    ...(binding === undefined ? [] : ['binding', binding]),
    ...(previousDigest === undefined ? [] : ['previous', previousDigest]),
    ...(longestTokenSec === undefined ? [] : ['longestToken', longestTokenSec]),
  ]
}

const toRedemption = (answer: unknown): RedemptionOutcome => {
  const [kind, first = '', untilMs] = answer as readonly string[]
  switch (kind) {
    case 'redeemed':
      return { kind, record: JSON.parse(first) as GrantRecord, untilMs: Number(untilMs) }
    case 'replayed':
      return { kind, record: JSON.parse(first) as GrantRecord }
    case 'exceeds':
      return { kind, by: first as ScopeExceeded['by'] }
    default:
      return { kind: 'refused' }
  }
}

const toCurrentRefresh = (answer: unknown): CurrentRefresh => {
  const [generation, currentDigest = ''] = answer as readonly string[]
  return { generation: Number(generation), currentDigest }
}

const toRefresh = (answer: unknown): RefreshOutcome => {
  const [kind, first = '', second = ''] = answer as readonly string[]
  switch (kind) {
    case 'valid':
      return { kind, record: JSON.parse(first) as GrantRecord, untilMs: Number(second) }
    case 'superseded':
      return { kind, generation: Number(first), currentDigest: second }
    case 'exceeds':
      return { kind, by: first as ScopeExceeded['by'] }
    default:
      return { kind: 'refused' }
  }
}
