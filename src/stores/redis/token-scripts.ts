import { usable } from './grant-scripts.ts'

/** Lua. KEYS[2] is the hash of what is revoked of the grant, and ARGV begins with the grant id. */

const readAccessToken = `
local function readAccessToken(key)
  local record = redis.call('GET', key)
  if not record or redis.call('EXISTS', KEYS[2]) == 0 then return record end
  if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return false end
  local token = cjson.decode(record)
  if redis.call('HEXISTS', KEYS[2], (token.draft or token).jti) == 1 then return false end
  return record
end
`

/** KEYS[1]: the token. Answers its record, or nothing. */
export const findScript = `${readAccessToken}
return readAccessToken(KEYS[1])
`

/**
 * KEYS[1]: the grant, KEYS[3]: the token. ARGV: …, the caller's now, digest. Answers 'access' and the record; or 'refresh',
 * the grant's record, until, the instant of the last rotation, and the binding if there is one; or nothing.
 */
export const findAnyScript = `${readAccessToken}${usable}
local record = readAccessToken(KEYS[3])
if record then return { 'access', record } end
local grant = redis.call('HMGET', KEYS[1], 'record', 'until', 'refreshedAt', 'binding', 'refresh')
if not usable(grant[1], grant[2]) or grant[5] ~= ARGV[3] then return false end
return { 'refresh', grant[1], grant[2], grant[3], grant[4] }
`
