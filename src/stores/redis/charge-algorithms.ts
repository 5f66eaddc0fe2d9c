import { exactUpTo, slices } from '../limits/algorithms/sliding-log.ts'
import type { Algorithm } from '../ports/limiter.ts'

/**
 * An algorithm has three functions of a rule: `room` returns how many requests fit, `add` counts admissions, `wait`
 * returns the wait. The rule holds what `room` has found for the other two. Where possible, the functions pass texts to
 * Redis: Redis prints a number with all the digits that a fraction may have, which takes half as long as a command.
 */
export const head = `
local call, pack, read, max, min, ceil = redis.call, struct.pack, struct.unpack, math.max, math.min, math.ceil
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local algorithms = {}

local function whole(micros) return max(1, ceil(micros)) end

local function entry(key, index)
  local found = call('LINDEX', key, index)
  if found then return read('dd', found) end
end

local function pair(rule)
  local found = call('GET', rule.key)
  if not found then return end
  local instant, number = read('dd', found)
  if instant <= now + rule.window then return instant, number end
end

local function keep(rule, instant, number, micros)
  call('SET', rule.key, pack('dd', instant, number), 'PX', whole(micros / 1000))
end
`

export const algorithmTexts: Readonly<Record<Algorithm, string>> = {
  /**
   * A list of admissions, oldest first, each `(microseconds, count so far)`. The newest entry that has left the window
   * stays as the base of the count, so a full list has at most limit + 1 entries, or `slices` + 2. If the clock of
   * Redis was set back by more than a window, the entries are dropped.
   */
  strict: `
algorithms.strict = {
  room = function(rule)
    local key, window = rule.key, rule.window
    local newest, total = entry(key, '-1')
    if newest and newest > now + window then
      call('DEL', key)
      newest = nil
    end
    local base, first = 0, 0
    if newest then
      local oldest, counted = entry(key, '0')
      if oldest <= now - window then
        local second, secondCounted = entry(key, '1')
        while second and second <= now - window do
          call('LPOP', key)
          counted = secondCounted
          second, secondCounted = entry(key, '1')
        end
        base, first = counted, 1
      end
    else
      total = 0
    end
    rule.newest, rule.total, rule.base, rule.first = newest, total, base, first
    return rule.limit - (total - base)
  end,
  add = function(rule, granted)
    local key, newest, slice, stamp = rule.key, rule.newest, 0, now
    if rule.limit > ${exactUpTo} then
      slice = rule.window / ${slices}
      stamp = ceil(ceil(now / slice) * slice)
    end
    rule.total = rule.total + granted
    if newest and newest >= stamp then
      call('LSET', key, '-1', pack('dd', newest, rule.total))
    else
      call('RPUSH', key, pack('dd', stamp, rule.total))
      rule.lifetime = rule.lifetime or string.format('%d', whole((rule.window + slice) / 1000))
      call('PEXPIRE', key, rule.lifetime)
    end
  end,
  wait = function(rule)
    local key, total, limit, window, first = rule.key, rule.total, rule.limit, rule.window, rule.first
    if total - rule.base < limit then return window end
    local frees, counted = entry(key, first)
    while total - counted >= limit do
      first = first + 1
      frees, counted = entry(key, first)
    end
    return whole(frees + window - now)
  end
}
`,
  /** `(time, content of the bucket at that time)`, see `../limits/algorithms/gcra.ts`. */
  smooth: `
algorithms.smooth = {
  room = function(rule)
    local limit, window, burst = rule.limit, rule.window, rule.burst
    local instant, content = pair(rule)
    if not instant then
      instant, content = now, 0
    elseif instant < now then
      instant, content = now, max(0, content - limit * (now - instant))
    end
    content = min(content, burst * window)
    rule.instant, rule.content = instant, content
    return math.floor((burst * window - content) / window)
  end,
  add = function(rule, granted)
    local content = rule.content + granted * rule.window
    rule.content = content
    keep(rule, rule.instant, content, rule.instant - now + content / rule.limit)
  end,
  wait = function(rule, room)
    local excess = rule.content
    if room < 1 then excess = excess - (rule.burst - 1) * rule.window end
    return whole(rule.instant - now + excess / rule.limit)
  end
}
`,
  /** `(start of the window, count)`. */
  calendar: `
algorithms.calendar = {
  room = function(rule)
    local start, count = pair(rule)
    if not start or start + rule.window <= now then start, count = now - now % rule.window, 0 end
    rule.start, rule.count = start, count
    return rule.limit - count
  end,
  add = function(rule, granted)
    rule.count = rule.count + granted
    keep(rule, rule.start, rule.count, rule.start + rule.window - now)
  end,
  wait = function(rule) return rule.start + rule.window - now end
}
`,
}
