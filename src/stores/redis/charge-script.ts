import type { Algorithm, Rule } from '../ports/limiter.ts'
import { algorithmTexts, head } from './charge-algorithms.ts'

/**
 * Decides charges by the same rules in Redis, by its clock and over all pods, as `../limits/counters.ts` does in a
 * process. The charges are decided one after another: of the requests of each, as many are admitted as have room under
 * every hard rule, and the others are not counted.
 *
 * KEYS: for each charge a counter for each rule. ARGV: number of rules; for each of them the algorithm, the limit, the
 * window in microseconds, the burst, and 1 if it is soft; then for each charge the number of requests, or nothing if
 * all are 1. Returns for each charge how many are granted, how many of these the soft rules had room for, and for each
 * rule what remains and the microseconds to wait: all as doubles in one string, which is parsed in a tenth of the time
 * of a list of numbers.
 *
 * The script contains only the algorithms of its rules, because Redis creates every function again in every call.
 */
export const chargeScriptFor = (rules: readonly Rule[]): string => {
  const used = algorithms.filter(name => rules.some(({ algorithm }) => algorithm === name))
  return [head, ...used.map(name => algorithmTexts[name]), body].join('')
}

/** The arguments that are equal for all charges by these rules. */
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
  decide(charge * #rules, tonumber(ARGV[5 * #rules + 2 + charge] or 1))
end
return pack(string.rep('d', said), unpack(answer))
`
