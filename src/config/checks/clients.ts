import type { ClientDraft, Draft } from '../draft.ts'
import type { Fault } from '../source/problem.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/** What must hold inside one client by itself: the sentences to say where it does not. */
export const checkClient = (client: ClientDraft): readonly Fault[] =>
  applyRules(rules, { path: [], broken: new Set() }, { client, planNames: [client.plan ?? ''] })

/** What must hold inside each client, and between it and the plans. */
export const checkClients = (draft: Draft): readonly Fault[] => [
  ...draft.clients.flatMap(client => applyRules(rules, client, { client: client.value, planNames: draft.planNames })),
  ...doubledIds(draft),
]

interface Facts {
  readonly client: ClientDraft
  readonly planNames: readonly string[]
}

const secretFields = ['client_secret', 'client_secret_hash', 'token_endpoint_auth_method'] as const

const rules: readonly Rule<Facts>[] = [
  {
    reads: secretFields,
    check: ({ client }) =>
      client.client_secret && client.client_secret_hash
        ? keyAt('client_secret_hash', 'excludes client_secret; keep one of the two')
        : undefined,
  },
  {
    reads: secretFields,
    check: ({ client }) =>
      isPublic(client) || hasSecret(client)
        ? undefined
        : valueAt(
            'client_secret',
            'missing; give client_secret or client_secret_hash, or token_endpoint_auth_method: none for a public client',
          ),
  },
  {
    reads: secretFields,
    check: ({ client }) =>
      isPublic(client) && hasSecret(client)
        ? keyAt(
            client.client_secret ? 'client_secret' : 'client_secret_hash',
            'a public client (token_endpoint_auth_method: none) has no secret; remove one of the two',
          )
        : undefined,
  },
  {
    reads: ['grant_types', 'token_endpoint_auth_method'],
    check: ({ client }) =>
      isPublic(client) && client.grant_types.includes('client_credentials')
        ? valueAt('grant_types', 'client_credentials is for clients with a secret (RFC 6749 section 4.4); remove it')
        : undefined,
  },
  {
    reads: ['grant_types', 'redirect_uris'],
    check: ({ client }) =>
      client.grant_types.includes('authorization_code') && client.redirect_uris.length === 0
        ? valueAt(
            'redirect_uris',
            'missing; authorization_code (the grant type where none is given) needs at least one, else set grant_types',
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
        ? valueAt('plan', `no such plan; there are ${planNames.join(', ')}`)
        : undefined,
  },
]

const missingPlan = (planNames: readonly string[]): string =>
  planNames.length === 0
    ? 'there is no plan; define one under plans'
    : `missing; there is more than one to choose from: ${planNames.join(', ')}`

const isPublic = (client: ClientDraft): boolean => client.token_endpoint_auth_method === 'none'

const hasSecret = (client: ClientDraft): boolean => Boolean(client.client_secret ?? client.client_secret_hash)

const doubledIds = ({ clients }: Draft): readonly Fault[] =>
  clients
    .filter(({ value }, index) => clients.findIndex(other => other.value.client_id === value.client_id) < index)
    .map(({ path }) => ({
      path: [...path, 'client_id'],
      at: 'value',
      message: 'another client has this client_id; take a new one',
    }))
