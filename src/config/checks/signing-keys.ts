import { signingAlgs } from '../../oauth/protocol.ts'
import { isBroken } from '../parse/config-section.ts'
import type { Draft } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/** Whether the operator's own keys can sign all that is to be signed. */
export const checkSigningKeys = (draft: Draft): readonly Fault[] => [
  ...applyRules(keyRules, draft.head, draft.head.value.keys),
  ...lackingKeys(draft),
]

const keyRules: readonly Rule<Draft['head']['value']['keys']>[] = [
  {
    reads: ['keys.jwks', 'keys.rotateEvery'],
    check: ({ jwks, rotateEvery }) =>
      jwks && rotateEvery !== undefined
        ? keyAt(['keys', 'rotateEvery'], 'is without effect: the keys of jwks are not rotated; remove one of the two')
        : undefined,
  },
]

const lackingKeys = (draft: Draft): readonly Fault[] => {
  // With a client's algorithm in doubt there is no telling.
  if (draft.clients.some(({ broken }) => algFields.some(field => isBroken(broken, field)))) return []
  return applyRules(rules, draft.head, draft)
}

const algFields = ['introspection_signed_response_alg', 'access_token_signed_response_alg'] as const

const rules: readonly Rule<Draft>[] = [
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
const neededAlgs = ({ head, clients }: Draft): readonly string[] => {
  const asked = new Set(algFields.flatMap(field => [...new Set(clients.map(({ value }) => value[field]))]))
  return signingAlgs.filter(alg => alg === head.value.tokens.accessToken.alg || asked.has(alg))
}
