import { signingAlgs } from '../../oauth/protocol.ts'
import { isInvalid } from '../parse/config-section.ts'
import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/** Whether the operator's own keys can sign all that is to be signed. */
export const checkSigningKeys = (draft: ParsedConfig): readonly Fault[] => [
  ...applyRules(keyRules, draft.head, draft.head.value.keys),
  ...lackingKeys(draft),
]

const keyRules: readonly Rule<ParsedConfig['head']['value']['keys']>[] = [
  {
    reads: ['keys.jwks', 'keys.rotateEvery'],
    check: ({ jwks, rotateEvery }) =>
      jwks && rotateEvery !== undefined
        ? keyAt(['keys', 'rotateEvery'], 'is without effect: the keys of jwks are not rotated; remove one of the two')
        : undefined,
  },
]

const lackingKeys = (draft: ParsedConfig): readonly Fault[] => {
  // With a client's algorithm in doubt there is no telling.
  if (draft.clients.some(({ broken }) => algFields.some(field => isInvalid(broken, field)))) return []
  return applyRules(rules, draft.head, draft)
}

const algFields = ['introspection_signed_response_alg', 'access_token_signed_response_alg'] as const

const rules: readonly Rule<ParsedConfig>[] = [
  {
    reads: ['keys.jwks', 'tokens.accessToken.alg'],
    check: draft => {
      const { jwks } = draft.head.value.keys
      const lacking = jwks ? neededAlgs(draft).filter(alg => !jwks.algs.has(alg)) : []
      return lacking.length > 0
        ? valueAt(['keys', 'jwks'], `has no key for ${lacking.join(', ')}; add one, or sign with what it has`)
        : undefined
    },
  },
]

/** What access tokens and introspection answers are signed with. */
const neededAlgs = ({ head, clients }: ParsedConfig): readonly string[] => {
  const asked = new Set(algFields.flatMap(field => [...new Set(clients.map(({ value }) => value[field]))]))
  return signingAlgs.filter(alg => alg === head.value.tokens.accessToken.alg || asked.has(alg))
}
