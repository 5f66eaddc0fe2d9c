import { exactUpTo, slices } from '../limits/sliding-log.ts'
import type { Algorithm, Rule } from '../ports/limiter.ts'

/**
 * Decides on charges by the same rules in Redis, by its clock and over all pods, as `../limits/counters.ts` does in a
 * process, one charge after another: of the requests of each, as many are let in as have room under every hard rule, and
 * those that have none are counted nowhere.
 *
 * KEYS: for each charge a counter for each rule. ARGV: how many rules; for each of them the algorithm, the limit, the window
 * in microseconds, the burst, and 1 where it is soft; then for each charge how many are wanted. Answers for each charge how
 * many are granted, how many of these the soft rules had room for, and for each rule what remains and the microseconds to
 * wait: all as doubles in one string, which is read in a tenth of the time that a list of numbers takes.
 *
 * It holds the algorithms that its rules need and no other: Redis makes every function anew in every call.
 */
export interface ChargeScript {
  /** The same for the same text, and for no other: ioredis keeps one script under a name. */
  readonly name: string
  readonly lua: string
}

export const chargeScriptFor = (rules: readonly Rule[]): ChargeScript => {
  const used = algorithms.filter(name => rules.some(({ algorithm }) => algorithm === name))
  return { name: `charge-${used.join('-')}`, lua: [head, ...used.map(name => algorithmTexts[name]), body].join('') }
}

/** The arguments that are the same for every charge by these rules. */
export const ruleArguments = (rules: readonly Rule[]): readonly string[] =>
  [rules.length, ...rules.flatMap(toArguments)].map(String)

const toArguments = ({ algorithm, limit, windowMs, burst, mode }: Rule): readonly (string | number)[] => [
  algorithm,
  limit,
  windowMs * 1000,
  burst,
  mode === 'soft' ? 1 : 0,
]

const algorithms = ['strict', 'smooth', 'calendar'] as const satisfies readonly Algorithm[]

/**
 * An algorithm has three functions of a rule, which holds what the first of them found out for the others: `room` for how
 * many there is room, `add` that so many were let in, `wait` for how long. Where they can, they pass Redis texts: it prints
 * each number with all the places that a fraction may have, which takes half as long as a command.
 */
const head = `
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

const algorithmTexts: Readonly<Record<Algorithm, string>> = {
  /**
   * A list of admissions, oldest first, each `(instant in microseconds, how many so far)`. The newest entry that has left
   * the window stays as the base to count from, so a full list is at most limit + 1 entries, or `slices` + 2. Where the
   * clock of Redis was set back by more than a window, what was counted is over.
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
  /** `(instant, content of the bucket then)`, see `../limits/leaky-bucket.ts`. */
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

const body = `
local rules = {}
for nth = 1, tonumber(ARGV[1]) do
  local at = 5 * nth - 3
  rules[nth] = {
    algorithm = algorithms[ARGV[at]],
    limit = tonumber(ARGV[at + 1]),
    window = tonumber(ARGV[at + 2]),
    burst = tonumber(ARGV[at + 3]),
    soft = ARGV[at + 4] == '1',
  }
end

local answer, said = {}, 0
local function say(number)
  said = said + 1
  answer[said] = number
end

local function decide(first, wanted)
  local granted, softRoom = wanted, wanted
  for nth, rule in ipairs(rules) do
    rule.key = KEYS[first + nth]
    rule.left = rule.algorithm.room(rule)
    if rule.soft then
      softRoom = min(softRoom, max(0, rule.left))
    else
      granted = min(granted, max(0, rule.left))
    end
  end
  local grantedSoftly = min(granted, softRoom)
  say(granted)
  say(grantedSoftly)
  for _, rule in ipairs(rules) do
    local admitted = rule.soft and grantedSoftly or granted
    if admitted > 0 then rule.algorithm.add(rule, admitted) end
    local left = rule.left - admitted
    say(max(0, left))
    say(rule.algorithm.wait(rule, left))
  end
end

for charge = 0, #KEYS / #rules - 1 do
  decide(charge * #rules, tonumber(ARGV[5 * #rules + 2 + charge]))
end
return pack(string.rep('d', said), unpack(answer))
`
