import type { Clock } from '../../clock.ts'
import type { GrantRecord, GrantStore, RedemptionOutcome, RefreshOutcome } from '../ports.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { createScript, redeemScript, refreshScript } from './grant-scripts.ts'
import { lifetimeMs } from './lifetime.ts'
import { names } from './names.ts'

export const createGrants = (connection: RedisConnection, clock: Clock): GrantStore => {
  const create = defineScript(connection, 'sidegateGrantCreate', 1, createScript)
  const redeem = defineScript(connection, 'sidegateGrantRedeem', 2, redeemScript)
  const refresh = defineScript(connection, 'sidegateGrantRefresh', 2, refreshScript)
  const keysOf = (grantId: string): [string, string] => [names.grant(grantId), names.revoked(grantId)]
  return {
    create: async ({ grantId, record, codeDigest, codeProof, codeExpiresAtMs, untilMs }) => {
      const fields = ['record', JSON.stringify(record), 'client', record.client_id, 'until', untilMs]
      const code = ['code', codeDigest, 'proof', codeProof, 'codeExpiresAt', codeExpiresAtMs]
      const counts = ['spent', 0, 'failures', 0, 'refreshedAt', 0, 'generation', 0]
      await create(names.grant(grantId), lifetimeMs(clock, untilMs), ...fields, ...code, ...counts)
    },
    redeem: async ({ grantId, codeDigest, codeProofs, nowMs, refreshDigest, binding, untilMs }) => {
      const code = [codeDigest, lifetimeMs(clock, untilMs), untilMs, refreshDigest ?? '', binding ?? '']
      return toRedemption(await redeem(...keysOf(grantId), grantId, nowMs, ...code, ...codeProofs))
    },
    refresh: async attempt => {
      const { grantId, nowMs, client_id, digest, untilMs } = attempt
      const rotation = [attempt.successorDigest ?? '', attempt.reuseWindowMs, lifetimeMs(clock, untilMs), untilMs]
      const demands = [(attempt.scopes ?? []).join(' '), ...attempt.bindings]
      return toRefresh(await refresh(...keysOf(grantId), grantId, nowMs, client_id, digest, ...rotation, ...demands))
    },
    remove: async grantId => void (await answered(connection.del(names.grant(grantId)))),
  }
}

const toRedemption = (answer: unknown): RedemptionOutcome => {
  const [kind, record = ''] = answer as readonly string[]
  if (kind !== 'redeemed' && kind !== 'replayed') return { kind: 'refused' }
  return { kind, record: JSON.parse(record) as GrantRecord }
}

const toRefresh = (answer: unknown): RefreshOutcome => {
  const [kind, first = '', second = ''] = answer as readonly string[]
  switch (kind) {
    case 'valid':
      return { kind, record: JSON.parse(first) as GrantRecord }
    case 'superseded':
      return { kind, generation: Number(first), currentDigest: second }
    case 'exceeds':
      return { kind }
    default:
      return { kind: 'refused' }
  }
}
