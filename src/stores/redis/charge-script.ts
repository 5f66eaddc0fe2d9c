import { exactUpTo, slices } from '../limits/sliding-log.ts'

/**
 * Decides on requests of one charge in Redis, by its clock and over all pods, as `../limits/counters.ts` does in a process:
 * as many are let in as have room under every hard rule, and those that have none are counted nowhere.
 *
 * KEYS: a counter for each rule, all of one slot. ARGV: how many are wanted, then for each rule the algorithm (0 strict,
 * 1 smooth, 2 calendar), the limit, the window in microseconds, the burst, and 1 where it is soft. Answers how many are
 * granted, how many of these the soft rules had room for, and for each rule what remains and the microseconds to wait.
 *
 * A strict counter is a list of admissions, oldest first, each `(instant in microseconds, how many so far)`; the newest
 * entry that has left the window stays as the base to count from, so a full one is at most limit + 1 entries, or
 * `slices` + 2. A smooth one is `(instant, content of the bucket then)`, see `../limits/leaky-bucket.ts`; a calendar one
 * `(start of the window, count)`. Where the clock of Redis was set back by more than a window, what was counted is over.
 */
export const chargeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function milliseconds(micros) return math.max(1, math.ceil(micros / 1000)) end

local function whole(micros) return math.max(1, math.ceil(micros)) end

local function entry(key, index)
  local found = redis.call('LINDEX', key, index)
  if found then return struct.unpack('dd', found) end
end

local function pair(key, window)
  local found = redis.call('GET', key)
  if not found then return end
  local instant, number = struct.unpack('dd', found)
  if instant <= now + window then return instant, number end
end

local function keep(key, instant, number, micros)
  redis.call('SET', key, struct.pack('dd', instant, number), 'PX', milliseconds(micros))
end

local function strict(key, limit, window)
  local newest, total = entry(key, -1)
  if newest and newest > now + window then
    redis.call('DEL', key)
    newest = nil
  end
  local base, first = 0, 0
  if newest then
    local oldest, counted = entry(key, 0)
    if oldest <= now - window then
      local second, secondCounted = entry(key, 1)
      while second and second <= now - window do
        redis.call('LPOP', key)
        counted = secondCounted
        second, secondCounted = entry(key, 1)
      end
      base, first = counted, 1
    end
  else
    total = 0
  end
  local function add(granted)
    local stamp = now
    if limit > ${exactUpTo} then stamp = math.ceil(math.ceil(now / (window / ${slices})) * (window / ${slices})) end
    total = total + granted
    if newest and newest >= stamp then
      redis.call('LSET', key, -1, struct.pack('dd', newest, total))
    else
      redis.call('RPUSH', key, struct.pack('dd', stamp, total))
      newest = stamp
    end
    redis.call('PEXPIRE', key, milliseconds(newest + window - now))
  end
  local function wait()
    if total - base < limit then return window end
    local frees, counted = entry(key, first)
    while total - counted >= limit do
      first = first + 1
      frees, counted = entry(key, first)
    end
    return whole(frees + window - now)
  end
  return { room = limit - (total - base), add = add, wait = wait }
end

local function smooth(key, limit, window, burst)
  local instant, content = pair(key, window)
  if not instant then
    instant, content = now, 0
  elseif instant < now then
    instant, content = now, math.max(0, content - limit * (now - instant))
  end
  content = math.min(content, burst * window)
  local function add(granted)
    content = content + granted * window
    keep(key, instant, content, instant - now + content / limit)
  end
  local function wait(room)
    local excess = content
    if room < 1 then excess = content - (burst - 1) * window end
    return whole(instant - now + excess / limit)
  end
  return { room = math.floor((burst * window - content) / window), add = add, wait = wait }
end

local function calendar(key, limit, window)
  local start, count = pair(key, window)
  if not start or start + window <= now then start, count = now - now % window, 0 end
  local function add(granted)
    count = count + granted
    keep(key, start, count, start + window - now)
  end
  local function wait() return start + window - now end
  return { room = limit - count, add = add, wait = wait }
end

local algorithms = { strict, smooth, calendar }
local wanted = tonumber(ARGV[1])
local granted, softRoom = wanted, wanted
local counters = {}
for nth, key in ipairs(KEYS) do
  local at = 5 * nth - 3
  local algorithm = algorithms[ARGV[at] + 1]
  local counter = algorithm(key, tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]))
  counter.soft = ARGV[at + 4] == '1'
  if counter.soft then
    softRoom = math.min(softRoom, math.max(0, counter.room))
  else
    granted = math.min(granted, math.max(0, counter.room))
  end
  counters[nth] = counter
end
local grantedSoftly = math.min(granted, softRoom)
local answer = { granted, grantedSoftly }
for _, counter in ipairs(counters) do
  local admitted = counter.soft and grantedSoftly or granted
  if admitted > 0 then counter.add(admitted) end
  local room = counter.room - admitted
  answer[#answer + 1] = math.max(0, room)
  answer[#answer + 1] = counter.wait(room)
end
return answer
`
