import { signingAlgs } from '../../oauth/protocol.ts'
import { isInvalid } from '../parse/config-section.ts'
import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/** Checks that the operator's own keys include all algorithms that Sidegate signs with. */
export const checkSigningKeys = (parsed: ParsedConfig): readonly Fault[] => [
  ...applyRules(keyRules, parsed.topLevel, parsed.topLevel.value.keys),
  ...lackingKeys(parsed),
]

const keyRules: readonly Rule<ParsedConfig['topLevel']['value']['keys']>[] = [
  {
    reads: ['keys.jwks', 'keys.rotateEvery'],
    check: ({ jwks, rotateEvery }) =>
      jwks && rotateEvery !== undefined
        ? keyAt(
            ['keys', 'rotateEvery'],
            'has no effect, because the keys of jwks are not rotated; remove one of the two',
          )
        : undefined,
  },
]

const lackingKeys = (parsed: ParsedConfig): readonly Fault[] => {
  // If a client's algorithm is invalid, the algorithms are not known.
  if (parsed.clients.some(({ invalidPaths }) => algFields.some(field => isInvalid(invalidPaths, field)))) return []
  return applyRules(rules, parsed.topLevel, parsed)
}

const algFields = ['introspection_signed_response_alg', 'access_token_signed_response_alg'] as const

const rules: readonly Rule<ParsedConfig>[] = [
  {
    reads: ['keys.jwks', 'tokens.accessToken.alg'],
    check: parsed => {
      const { jwks } = parsed.topLevel.value.keys
      const lacking = jwks ? neededAlgs(parsed).filter(alg => !jwks.algs.has(alg)) : []
      return lacking.length > 0
        ? valueAt(
            ['keys', 'jwks'],
            `has no key for ${lacking.join(', ')}; add one, or use an algorithm that it has a key for`,
          )
        : undefined
    },
  },
]

/** The algorithms of access tokens and introspection responses. */
const neededAlgs = ({ topLevel, clients }: ParsedConfig): readonly string[] => {
  const asked = new Set(algFields.flatMap(field => [...new Set(clients.map(({ value }) => value[field]))]))
  return signingAlgs.filter(alg => alg === topLevel.value.tokens.accessToken.alg || asked.has(alg))
}
