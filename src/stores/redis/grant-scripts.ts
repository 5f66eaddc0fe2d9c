import { failuresThatBurn } from '../grant-rules.ts'

/**
 * The rules of `../grant-rules.ts` in Lua. KEYS: the grant's hash, the hash of what is revoked of it. ARGV begins with
 * the grant id and the caller's now. Instants stay texts that Lua only compares.
 */

/** For any script with these KEYS and ARGV: whether a grant with this record, kept until then, may still be used. */
export const usable = `
local function usable(record, untilMs)
  return record and tonumber(untilMs) > tonumber(ARGV[2]) and redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0
end
`

/**
 * ARGV: …, code digest, lifetime, until, refresh digest or empty, its binding or empty, then the proofs. Answers kind and
 * record.
 */
export const redeemScript = `${usable}
local grant = redis.call('HMGET', KEYS[1], 'record', 'until', 'code', 'proof', 'codeExpiresAt', 'spent', 'failures')
if not usable(grant[1], grant[2]) or grant[3] ~= ARGV[3] then return { 'refused' } end
local proven, spent = false, grant[6] == '1'
for i = 8, #ARGV do proven = proven or ARGV[i] == grant[4] end
if not proven then
  if not spent then redis.call('HINCRBY', KEYS[1], 'failures', 1) end
  return { 'refused' }
end
if spent then return { 'replayed', grant[1] } end
if tonumber(grant[7]) >= ${failuresThatBurn} or tonumber(grant[5]) <= tonumber(ARGV[2]) then return { 'refused' } end
redis.call('HSET', KEYS[1], 'spent', '1', 'refreshedAt', ARGV[2], 'until', ARGV[5])
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'refresh', ARGV[6]) end
if ARGV[7] ~= '' then redis.call('HSET', KEYS[1], 'binding', ARGV[7]) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { 'redeemed', grant[1] }
`

/**
 * ARGV: …, client id, digest, successor digest or empty, reuse window, lifetime, until, space-separated scopes asked for,
 * then the bindings proved. Answers 'valid' and the record, or 'superseded', generation and current digest.
 */
export const refreshScript = `${usable}
local grant = redis.call('HMGET', KEYS[1], 'record', 'until', 'client', 'refresh', 'previous', 'refreshedAt', 'generation',
  'binding')
local record, current = grant[1], grant[4]
if not usable(record, grant[2]) or not current or grant[3] ~= ARGV[3] then return { 'refused' } end
local bound = not grant[8]
for i = 10, #ARGV do bound = bound or ARGV[i] == grant[8] end
if not bound then return { 'refused' } end
local function exceeds()
  if ARGV[9] == '' then return false end
  local agreed = ' ' .. cjson.decode(record).scope .. ' '
  for scope in ARGV[9]:gmatch('%S+') do
    if not agreed:find(' ' .. scope .. ' ', 1, true) then return true end
  end
  return false
end
if current == ARGV[4] then
  if exceeds() then return { 'exceeds' } end
  if ARGV[5] ~= '' then
    redis.call('HSET', KEYS[1], 'refresh', ARGV[5], 'previous', current, 'refreshedAt', ARGV[2], 'until', ARGV[8])
    redis.call('HINCRBY', KEYS[1], 'generation', 1)
    redis.call('PEXPIRE', KEYS[1], ARGV[7])
  end
  return { 'valid', record }
end
if grant[5] == ARGV[4] and tonumber(ARGV[2]) < tonumber(grant[6]) + tonumber(ARGV[6]) then
  if exceeds() then return { 'exceeds' } end
  return { 'valid', record }
end
return { 'superseded', grant[7], current }
`

/** KEYS: the grant's hash. ARGV: lifetime, then fields and values. */
export const createScript = `
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`
