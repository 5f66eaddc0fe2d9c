import type { ConfigSection } from '../parse/config-section.ts'
import type { ParsedClient, ParsedConfig } from '../parse/parsed-config.ts'
import { type Fault, keysText } from '../source/diagnostic.ts'
import { checkCertificates } from './client-certificates.ts'
import { checkProofs } from './client-proofs.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/**
 * The problems of one client by itself, as messages.
 * @param planNames left out: whatever plan it names exists
 */
export const checkClient = (client: ParsedClient, planNames = [client.plan ?? '']): readonly Fault[] => {
  const whole = { path: [], invalidPaths: [] }
  return [...applyRules(rules, whole, { client, planNames }), ...checkProofs({ ...whole, value: client })]
}

/** Checks each client by itself, and against the rest of the file. */
export const checkClients = (parsed: ParsedConfig): readonly Fault[] => [
  ...parsed.clients.flatMap(client => applyRules(rules, client, { client: client.value, planNames: parsed.planNames })),
  ...parsed.clients.flatMap(client => checkProofs(client)),
  ...checkCertificates(parsed),
  ...(servesAuthorize(parsed) ? [] : parsed.clients.flatMap(checkCodes)),
  ...doubledIds(parsed),
]

/** Checks a client when no operation serves authorize. */
export const checkCodes = (client: ConfigSection<ParsedClient>): readonly Fault[] =>
  applyRules(codeRules, client, client.value)

/** If an operation is missing from the parsed configuration, this is not known. */
const servesAuthorize = ({ operations, hasAllOperations }: ParsedConfig): boolean =>
  !hasAllOperations || operations.some(({ value }) => value.serves === 'authorize' && value.method === 'GET')

const codeRules: readonly Rule<ParsedClient>[] = [
  {
    reads: ['grant_types', 'redirect_uris'],
    check: ({ grant_types, redirect_uris }) =>
      grant_types.includes('authorization_code') && redirect_uris.length > 0
        ? valueAt(
            'grant_types',
            'authorization_code (the default grant type) needs an operation that serves authorize (GET); publish one, or set grant_types',
          )
        : undefined,
  },
]

interface Facts {
  readonly client: ParsedClient
  readonly planNames: readonly string[]
}

const rules: readonly Rule<Facts>[] = [
  {
    reads: ['grant_types', 'token_endpoint_auth_method'],
    check: ({ client }) =>
      isPublic(client) && client.grant_types.includes('client_credentials')
        ? valueAt(
            'grant_types',
            'client_credentials is only for clients that authenticate (RFC 6749 section 4.4); remove it',
          )
        : undefined,
  },
  {
    reads: ['grant_types', 'redirect_uris'],
    check: ({ client }) =>
      client.grant_types.includes('authorization_code') && client.redirect_uris.length === 0
        ? valueAt(
            'redirect_uris',
            'missing; authorization_code (the default grant type) needs at least one; add one, or set grant_types',
          )
        : undefined,
  },
  {
    reads: ['plan'],
    check: ({ client, planNames }) =>
      client.plan === undefined && planNames.length !== 1 ? valueAt('plan', missingPlan(planNames)) : undefined,
  },
  {
    reads: ['plan'],
    check: ({ client, planNames }) =>
      client.plan !== undefined && !planNames.includes(client.plan)
        ? valueAt('plan', `no such plan; known are ${keysText(planNames)}`)
        : undefined,
  },
]

const missingPlan = (planNames: readonly string[]): string =>
  planNames.length === 0
    ? 'there is no plan; define one under plans'
    : `missing; there is more than one plan: ${keysText(planNames)}`

const isPublic = (client: ParsedClient): boolean => client.token_endpoint_auth_method === 'none'

const doubledIds = ({ clients }: ParsedConfig): readonly Fault[] => {
  const seen = new Set<string>()
  const isSecond = (id: string): boolean => seen.size === seen.add(id).size
  return clients
    .filter(({ value }) => isSecond(value.client_id))
    .map(({ path }) => ({
      path: [...path, 'client_id'],
      at: 'value',
      message: 'another client has this client_id; choose another',
    }))
}
