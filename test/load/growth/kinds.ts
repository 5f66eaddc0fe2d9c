import { randomBytes } from 'node:crypto'
import type { GrantRecord } from '../../../src/stores/ports/grant-record.ts'
import type { NewGrant } from '../../../src/stores/ports/grants.ts'
import type { InteractionRecord } from '../../../src/stores/ports/interactions.ts'
import type { Limiter } from '../../../src/stores/ports/limiter.ts'
import type { Store } from '../../../src/stores/ports/store.ts'
import type { AccessTokenRecord } from '../../../src/stores/ports/tokens.ts'
import { chargeBy, newRule } from '../../support/charges.ts'

/**
 * One kind of record of a store, with the size that it has for a user with a sign-in at one client with a few scopes.
 */
export interface Kind {
  readonly title: string
  /** How long it is kept by the defaults of the configuration. */
  readonly kept: string
  /** Writes one. */
  write(store: Store): Promise<unknown>
}

/** A plan's counter: only a Redis keeps them, the embedded store's are in the memory of the primary process. */
export interface CounterKind {
  readonly title: string
  readonly kept: string
  charge(limiter: Limiter): Promise<unknown>
}

const nowMs = Date.now()
const hour = nowMs + 3_600_000
const id = (): string => randomBytes(16).toString('base64url')
const digest = (): string => randomBytes(32).toString('base64url')

const clientId = 'b7c1f0a2-5d3e-4c8b-9a6f-2e1d0c9b8a7f'
const issuer = 'https://auth.example.com'

const grantRecord = (): GrantRecord => ({
  client_id: clientId,
  sub: digest(),
  username: 'alice@example.com',
  scope: 'accounts:read accounts:write offline_access',
  resource: [],
  authTimeSec: Math.floor(nowMs / 1000),
  beganAtSec: Math.floor(nowMs / 1000),
})

const newGrant = (): NewGrant => ({
  grantId: id(),
  record: grantRecord(),
  codeDigest: digest(),
  codeProof: digest(),
  codeExpiresAtMs: hour,
  untilMs: hour,
})

const machineToken = (grantId: string): AccessTokenRecord => ({
  jti: grantId,
  client_id: clientId,
  sub: clientId,
  scope: 'accounts:read accounts:write',
  aud: issuer,
  iat: Math.floor(nowMs / 1000),
  exp: Math.floor(hour / 1000),
})

const redeem = async (store: Store, isTokenKept: boolean): Promise<void> => {
  const grant = newGrant()
  const { grantId } = grant
  const iat = Math.floor(nowMs / 1000)
  const draft = { jti: `${grantId}.${id()}`, client_id: clientId, iat, exp: iat + 600, resources: [], issuer }
  await store.grants.create(grant)
  await store.grants.redeem({
    grantId,
    codeDigest: grant.codeDigest,
    codeProofs: [grant.codeProof],
    nowMs,
    refreshDigest: digest(),
    untilMs: hour,
    token: { draft, ...(isTokenKept && { digest: digest() }) },
  })
}

const interaction = (): InteractionRecord => ({
  client_id: clientId,
  redirect_uri: 'https://app.example.com/oauth/callback',
  redirectUriSent: true,
  state: id(),
  scope: 'accounts:read accounts:write offline_access',
  resource: [],
  code_challenge: digest(),
  browserDigest: digest(),
  stage: 'consent',
  failedLogins: 0,
  beganAtSec: Math.floor(nowMs / 1000),
  expiresAtMs: hour,
  sub: digest(),
  username: 'alice@example.com',
  authTimeSec: Math.floor(nowMs / 1000),
})

const pushedParameters = () => ({
  response_type: 'code',
  redirect_uri: 'https://app.example.com/oauth/callback',
  scope: 'accounts:read accounts:write',
  state: id(),
  code_challenge: digest(),
  code_challenge_method: 'S256',
})

const clientMembers = (): string =>
  JSON.stringify({
    client_name: 'An application of a customer',
    client_secret_hash: `sha256$${id()}$${digest()}`,
    grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
    redirect_uris: ['https://app.example.com/oauth/callback'],
    scope: 'accounts:read accounts:write offline_access',
    plan: 'default-plan',
  })

const forAMoment = async (): Promise<void> => undefined

export const kinds: readonly Kind[] = [
  { title: 'an access token that is a JWT', kept: '–', write: forAMoment },
  {
    title: '… that was revoked',
    kept: "the token's life, 10m",
    write: store => store.revocations.revoke(`${id()}.${id()}`, hour),
  },
  {
    title: "an opaque access token of a client's own",
    kept: '10m',
    write: store => {
      const grantId = id()
      return store.tokens.save(grantId, digest(), machineToken(grantId), hour)
    },
  },
  { title: 'a code that waits', kept: '60s + 10m', write: store => store.grants.create(newGrant()) },
  { title: 'a grant with its refresh token', kept: '30d', write: store => redeem(store, false) },
  { title: '… and an opaque access token beside it', kept: '30d, the token 10m', write: store => redeem(store, true) },
  {
    title: 'one of `tokens revoke`',
    kept: '1y',
    write: store => store.cutoffs.add({ client_id: clientId, sub: digest(), throughSec: 1, untilMs: hour }),
  },
  { title: 'a sign-in under way', kept: '15m', write: store => store.interactions.create(id(), interaction(), hour) },
  {
    title: 'a pushed request',
    kept: '60s, then 15m',
    write: store => store.pushed.create(id(), { client_id: clientId, parameters: pushedParameters() }, hour),
  },
  {
    title: 'an assertion or proof that was used',
    kept: 'its life, 1m to 5m',
    write: store => store.replays.spend([{ id: digest(), untilMs: hour }]),
  },
  {
    title: 'a client in the store',
    kept: 'until it is deleted',
    write: store => store.clients.put(digest(), { members: clientMembers(), disabled: false }, undefined),
  },
]

const perMinute = newRule(1000, { windowMs: 3_600_000 })

const chargeTimes = (count: number) => async (limiter: Limiter) => {
  const charge = { ...chargeBy(perMinute), key: `plan ${clientId} ${id()}` }
  for (let i = 0; i < count; i++) await limiter.charge(charge)
}

export const counterKinds: readonly CounterKind[] = [
  { title: 'a strict plan, one request in its window', kept: 'one window', charge: chargeTimes(1) },
  { title: '… a hundred requests', kept: 'one window', charge: chargeTimes(100) },
]
