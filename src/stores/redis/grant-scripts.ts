import { maxFailedRedemptions, unrecordedTokenSec } from '../shared/grant-rules.ts'

/**
 * The rules of `../shared/grant-rules.ts` in Lua. KEYS: the grant's hash, the hash of its revocations. ARGV begins with
 * the grant id and the caller's now. Times stay texts that Lua only compares.
 */

/**
 * For any script: whether a grant with this record and lifetime may still be used; `revoked` names the hash of its
 * revocations.
 */
export const usable = `
local function usable(record, untilMs, nowMs, revoked, grantId)
  return record and tonumber(untilMs) > tonumber(nowMs) and redis.call('HEXISTS', revoked, grantId) == 0
end
`

/**
 * Shared by the two scripts below. KEYS: …, the access token. ARGV: …, space-separated requested resources, draft of
 * the token to store or empty, the token's lifetime or empty: it ends with its grant, in whole seconds. `exceeds`
 * returns what is requested beyond the grant, or false. `recordToken` writes the token's lifetime, in seconds, unless a
 * longer one is recorded.
 */
const issuing = `
local function exceeds(record, scopes)
  if scopes == '' and ARGV[3] == '' then return false end
  local agreed = cjson.decode(record)
  for scope in scopes:gmatch('%S+') do
    if not (' ' .. agreed.scope .. ' '):find(' ' .. scope .. ' ', 1, true) then return 'scope' end
  end
  local resources = ' ' .. table.concat(agreed.resource, ' ') .. ' '
  for resource in ARGV[3]:gmatch('%S+') do
    if #agreed.resource > 0 and not resources:find(' ' .. resource .. ' ', 1, true) then return 'resource' end
  end
  return false
end
local function recordToken(known, unrecorded)
  local lifetime = math.ceil((tonumber(ARGV[5]) or 0) / 1000)
  local longest = math.max(tonumber(known or unrecorded), lifetime)
  if longest ~= tonumber(known or '') then redis.call('HSET', KEYS[1], 'longestToken', string.format('%.0f', longest)) end
end
local function keepToken(record, untilMs)
  if ARGV[4] == '' then return end
  local kept = '{"draft":' .. ARGV[4] .. ',"grant":' .. record .. ',"untilMs":' .. untilMs .. '}'
  local leftMs = math.floor(tonumber(untilMs) / 1000) * 1000 - tonumber(ARGV[2])
  redis.call('SET', KEYS[3], kept, 'PX', math.max(1, math.ceil(math.min(tonumber(ARGV[5]), leftMs))))
end
`

/**
 * ARGV: …, code digest, lifetime, until, refresh digest or empty, its binding or empty, then the proofs. Returns kind,
 * record and the grant's end, or 'exceeds' and by what.
 */
export const redeemScript = `${usable}${issuing}
local grant = redis.call('HMGET', KEYS[1], 'record', 'until', 'code', 'proof', 'codeExpiresAt', 'spent', 'failures')
if not usable(grant[1], grant[2], ARGV[2], KEYS[2], ARGV[1]) or grant[3] ~= ARGV[6] then return { 'refused' } end
local proven, spent = false, grant[6] == '1'
for i = 11, #ARGV do proven = proven or ARGV[i] == grant[4] end
if not proven then
  if not spent then redis.call('HINCRBY', KEYS[1], 'failures', 1) end
  return { 'refused' }
end
if spent then return { 'replayed', grant[1] } end
if tonumber(grant[7]) >= ${maxFailedRedemptions} or tonumber(grant[5]) <= tonumber(ARGV[2]) then return { 'refused' } end
local excess = exceeds(grant[1], '')
if excess then return { 'exceeds', excess } end
redis.call('HSET', KEYS[1], 'spent', '1', 'refreshedAt', ARGV[2], 'until', ARGV[8])
if ARGV[9] ~= '' then redis.call('HSET', KEYS[1], 'refresh', ARGV[9]) end
if ARGV[10] ~= '' then redis.call('HSET', KEYS[1], 'binding', ARGV[10]) end
redis.call('PEXPIRE', KEYS[1], ARGV[7])
recordToken(false, 0)
keepToken(grant[1], ARGV[8])
return { 'redeemed', grant[1], ARGV[8] }
`

/**
 * ARGV: …, client id, digest, successor digest or empty, reuse window, lifetime, until, space-separated requested
 * scopes, then the proved bindings. Returns 'valid', the record and the grant's end; 'superseded', generation and
 * current digest; or 'exceeds' and by what.
 */
export const refreshScript = `${usable}${issuing}
local grant = redis.call('HMGET', KEYS[1], 'record', 'until', 'client', 'refresh', 'previous', 'refreshedAt', 'generation',
  'binding', 'longestToken')
local record, current = grant[1], grant[4]
if not usable(record, grant[2], ARGV[2], KEYS[2], ARGV[1]) or not current or grant[3] ~= ARGV[6] then return { 'refused' } end
local bound = not grant[8]
for i = 13, #ARGV do bound = bound or ARGV[i] == grant[8] end
if not bound then return { 'refused' } end
local isCurrent = current == ARGV[7]
local isWithinWindow = grant[5] == ARGV[7] and tonumber(ARGV[2]) < tonumber(grant[6]) + tonumber(ARGV[9])
if not isCurrent and not isWithinWindow then return { 'superseded', grant[7], current } end
local excess = exceeds(record, ARGV[12])
if excess then return { 'exceeds', excess } end
local untilMs = grant[2]
if isCurrent and ARGV[8] ~= '' then
  untilMs = ARGV[11]
  redis.call('HSET', KEYS[1], 'refresh', ARGV[8], 'previous', current, 'refreshedAt', ARGV[2], 'until', ARGV[11])
  redis.call('HINCRBY', KEYS[1], 'generation', 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[10])
end
recordToken(grant[9], ${unrecordedTokenSec})
keepToken(record, untilMs)
return { 'valid', record, untilMs }
`

/** ARGV: …, client id. Returns generation and digest of the current refresh token, or nothing. */
export const currentRefreshScript = `${usable}
local grant = redis.call('HMGET', KEYS[1], 'record', 'until', 'client', 'generation', 'refresh')
if not usable(grant[1], grant[2], ARGV[2], KEYS[2], ARGV[1]) or not grant[5] or grant[3] ~= ARGV[3] then return false end
return { grant[4], grant[5] }
`

/** KEYS: the grant's hash. ARGV: lifetime, then fields and values. */
export const createScript = `
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`
