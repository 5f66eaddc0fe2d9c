import type { Clock } from '../../clock.ts'
import type { AccessTokenRecord, TokenStore } from '../ports.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { lifetimeMs } from './lifetime.ts'
import { names } from './names.ts'

/** KEYS: the token, the hash of what is revoked of its grant. ARGV: grant id. Answers the record, or nothing. */
const findScript = `
local record = redis.call('GET', KEYS[1])
if not record or redis.call('EXISTS', KEYS[2]) == 0 then return record end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return false end
if redis.call('HEXISTS', KEYS[2], cjson.decode(record).jti) == 1 then return false end
return record
`

export const createTokens = (connection: RedisConnection, clock: Clock): TokenStore => {
  const find = defineScript(connection, 'sidegateTokenFind', 2, findScript)
  return {
    save: async (grantId, digest, record, untilMs) => {
      const lifetime = lifetimeMs(clock, untilMs)
      await answered(connection.set(names.token(grantId, digest), JSON.stringify(record), 'PX', lifetime))
    },
    find: async (grantId, digest) => {
      const found = await find(names.token(grantId, digest), names.revoked(grantId), grantId)
      return typeof found === 'string' ? (JSON.parse(found) as AccessTokenRecord) : undefined
    },
    remove: async (grantId, digest) => void (await answered(connection.del(names.token(grantId, digest)))),
  }
}
