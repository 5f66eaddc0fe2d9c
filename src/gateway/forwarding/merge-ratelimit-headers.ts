/**
 * The rate-limit fields of an upstream are passed to the client and never made more permissive
 * (draft-ietf-httpapi-ratelimit-headers: intermediaries). The IETF fields are lists, to which the gateway adds its
 * items. Of the older fields only one set can be sent: the one of the tighter limit.
 */
export interface LimitMerge {
  /** Fields of the upstream that the client does not get. */
  readonly dropped: readonly string[]
  /** Fields of the gateway, names and values in turn. */
  readonly own: readonly string[]
}

/** The value of an upstream's field, by its name in lower case. */
export type FieldReader = (name: string) => string | undefined

/** Undefined in the usual case: the upstream sends none of the gateway's older fields, so all fields are passed on. */
export const mergeLimits = (upstream: FieldReader, own: readonly string[]): LimitMerge | undefined => {
  const prefix = prefixes.find((_, nth) => own.includes(remainingFields[nth] ?? ''))
  if (prefix === undefined) return undefined
  const names = [`${prefix}-limit`, `${prefix}-remaining`, `${prefix}-reset`]
  if (names.every(name => upstream(name) === undefined)) return undefined
  const theirs = readLimit(prefix, upstream)
  const ours = readLimit(prefix, name => own[own.indexOf(name) + 1])
  if (theirs === undefined || ours === undefined) return { dropped: names, own }
  if (theirs.isNamed && ours.isNamed) return { dropped: names, own: withTheirItems(own, names, upstream) }
  return isTighter(theirs, ours) ? { dropped: [], own: without(own, names) } : { dropped: names, own }
}

const prefixes = ['ratelimit', 'x-ratelimit']

/** The names that are searched in every response. */
const remainingFields = prefixes.map(prefix => `${prefix}-remaining`)

interface Limit {
  readonly remaining: number
  /** In seconds; 0 if the upstream does not send it. */
  readonly reset: number
  /** Whether the values have the format of API Connect. */
  readonly isNamed: boolean
}

/** Undefined if the upstream's values cannot be parsed. */
const readLimit = (prefix: string, textIn: (name: string) => string | undefined): Limit | undefined => {
  const text = textIn(`${prefix}-remaining`) ?? ''
  const reset = Number(/^\d{1,12}$/.exec(textIn(`${prefix}-reset`) ?? '')?.[0] ?? 0)
  // Some upstreams send a fraction or a negative number. Both are rounded down to a count, 0 at least.
  if (/^-?\d{1,15}(?:\.\d{1,9})?$/.test(text)) {
    return { remaining: Math.max(0, Math.floor(Number(text))), reset, isNamed: false }
  }
  if (!/^(name=[^,;]*,\d{1,15};)+$/.test(text)) return undefined
  return {
    remaining: Math.min(...[...text.matchAll(/,(\d+);/g)].map(([, count]) => Number(count))),
    reset,
    isNamed: true,
  }
}

const isTighter = (one: Limit, other: Limit): boolean =>
  one.remaining < other.remaining || (one.remaining === other.remaining && one.reset > other.reset)

const withTheirItems = (own: readonly string[], names: readonly string[], upstream: FieldReader): readonly string[] =>
  own.map((value, index) => {
    const name = own[index - 1]
    return index % 2 === 1 && name !== undefined && names.includes(name) ? (upstream(name) ?? '') + value : value
  })

const without = (own: readonly string[], names: readonly string[]): readonly string[] =>
  own.filter((_, index) => !names.includes(own[index - (index % 2)] ?? ''))
