import { usable } from './grant-scripts.ts'

/** Lua. `revoked` is the hash of the grant's revocations. */

const readAccessToken = `
local function readAccessToken(key, revoked, grantId)
  local record = redis.call('GET', key)
  if not record or redis.call('EXISTS', revoked) == 0 then return record end
  if redis.call('HEXISTS', revoked, grantId) == 1 then return false end
  local token = cjson.decode(record)
  if redis.call('HEXISTS', revoked, (token.draft or token).jti) == 1 then return false end
  return record
end
`

/** KEYS: the token, its grant's revocations. ARGV: the grant id. Returns its record, or nothing. */
export const findScript = `${readAccessToken}
return readAccessToken(KEYS[1], KEYS[2], ARGV[1])
`

/**
 * KEYS: for each token the grant, its revocations, the token. ARGV: the caller's now, and for each token the grant id
 * and the digest. Returns for each 'access' and the record; or 'refresh', the grant's record, until, the time of the
 * last rotation, and the binding if there is one; or nothing.
 */
export const findAnyScript = `${readAccessToken}${usable}
local function findAny(grantKey, revoked, tokenKey, grantId, digest)
  local record = readAccessToken(tokenKey, revoked, grantId)
  if record then return { 'access', record } end
  local grant = redis.call('HMGET', grantKey, 'record', 'until', 'refreshedAt', 'binding', 'refresh')
  if not usable(grant[1], grant[2], ARGV[1], revoked, grantId) or grant[5] ~= digest then return false end
  return { 'refresh', grant[1], grant[2], grant[3], grant[4] }
end
local found = {}
for i = 1, #KEYS / 3 do
  found[i] = findAny(KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i], ARGV[2 * i], ARGV[2 * i + 1])
end
return found
`
