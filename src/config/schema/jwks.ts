import { z } from 'zod'
import type { JwkSet } from '../../oauth/client-keys/public-keys.ts'
import { Secret } from '../../secret.ts'
import { type Jwk, kidOf, publicJwkFault, signingJwkFault } from '../values/jwk.ts'

/** JWK sets (RFC 7517 section 5), as a mapping or as the JSON text that a file holds. */

/** Public keys of others, with which Sidegate verifies their signatures. */
export const publicJwks = () =>
  jwkSet((keys): JwkSet | KeyFault => {
    const [fault] = faultsOf(keys, publicJwkFault)
    return fault ?? { keys }
  })

/**
 * The keys that Sidegate signs with, each with a unique `kid`. They are kept as text and parsed where they are used.
 */
export const signingJwks = () =>
  jwkSet((keys): SigningJwks | KeyFault => {
    const [fault] = [...faultsOf(keys, signingJwkFault), ...doubledKids(keys)]
    const text = new Secret(JSON.stringify({ keys }))
    return fault ?? { text, algs: new Set(keys.map(({ alg }) => String(alg))) }
  })

export interface SigningJwks {
  readonly text: Secret
  /** The algorithms that the keys sign with. */
  readonly algs: ReadonlySet<string>
}

const jwkSet = <T extends object>(read: (keys: readonly Jwk[]) => T | KeyFault) =>
  z.union([z.record(z.string(), z.unknown()), z.string()], { error: expectation }).transform((input, context): T => {
    const keys = parseKeys(input)
    if (keys === undefined) return refuse(context, [], expectation)
    const found = read(keys)
    if (!isFault(found)) return found
    return refuse(context, typeof input === 'string' ? [] : found.path, found.message)
  })

const isFault = (found: object): found is KeyFault => 'message' in found

const expectation = 'must be a JWK set with at least one key, {"keys": [...]} (RFC 7517 section 5)'

const parseKeys = (input: Jwk | string): readonly Jwk[] | undefined => {
  const set = typeof input === 'string' ? parseJson(input) : input
  if (!isMapping(set) || !Array.isArray(set.keys) || set.keys.length === 0) return undefined
  return set.keys.every(isMapping) ? set.keys.map(key => ({ ...key })) : undefined
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isMapping = (value: unknown): value is Jwk => typeof value === 'object' && value !== null && !Array.isArray(value)

interface KeyFault {
  readonly path: readonly (string | number)[]
  readonly message: string
}

const faultsOf = (keys: readonly Jwk[], faultOf: (jwk: Jwk) => string | undefined): readonly KeyFault[] =>
  keys.flatMap((key, index) => {
    const fault = faultOf(key)
    return fault ? [{ path: ['keys', index], message: `key ${index + 1} ${fault}` }] : []
  })

const doubledKids = (keys: readonly Jwk[]): readonly KeyFault[] => {
  const kids = keys.map(kidOf)
  return kids.flatMap((kid, index) => {
    const first = kids.indexOf(kid)
    const message = `key ${index + 1} has the kid of key ${first + 1}; give each key a kid of its own`
    return first < index ? [{ path: ['keys', index], message }] : []
  })
}

const refuse = (context: z.RefinementCtx, path: readonly (string | number)[], message: string): never => {
  context.addIssue({ code: 'custom', path: [...path], message })
  return z.NEVER
}
