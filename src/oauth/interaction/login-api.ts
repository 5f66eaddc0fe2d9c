import { randomBytes } from 'node:crypto'
import type { InteractionRecord } from '../../stores/ports/interactions.ts'
import type { OAuthDeps } from '../deps.ts'
import type { ScopeTexts } from '../options.ts'
import { joinScope, splitScope } from '../scope.ts'
import { type Found, findInteraction } from './browser-binding.ts'
import { type Acceptance, parseAcceptance, parseRejection } from './decision.ts'
import { resumeToken, resumeUrl } from './handoff.ts'
import { advance } from './interaction-session.ts'
import { rememberSubject } from './known-subjects.ts'

/**
 * The operator's side of a hand-off: the API of the operator's login on the private listener. The caller is already
 * authenticated as that login.
 */
export interface LoginApi {
  /** The facts that the login needs to ask the user. */
  describe(id: string): Promise<LoginApiAnswer>
  /** The user signed in and agreed. */
  accept(id: string, body: unknown): Promise<LoginApiAnswer>
  /** The user did not sign in, or did not agree. */
  reject(id: string, body: unknown): Promise<LoginApiAnswer>
}

export type LoginApiAnswer =
  | { readonly kind: 'answer'; readonly body: Readonly<Record<string, unknown>> }
  /** The interaction does not exist, or has expired. */
  | { readonly kind: 'unknown' }
  /** The body is invalid for this operation. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** The decision does not fit the interaction, which is unchanged. */
  | { readonly kind: 'conflict'; readonly reason: string }

/** A decision as it is stored. */
interface Decision {
  /** Equal for calls with equal bodies. */
  readonly callDigest: string
  readonly members: Partial<InteractionRecord>
  readonly rejection?: { readonly error: string; readonly description: string }
}

/** @throws StoreUnavailableError by each method */
export const createLoginApi = (deps: OAuthDeps): LoginApi => {
  const { options, store, keys, clock } = deps

  /** Stores the first decision. The same decision again gets the same response; a different one is a conflict. */
  const decide = async (id: string, { callDigest, members, rejection }: Decision): Promise<LoginApiAnswer> => {
    const handoff = { callDigest, resumeSalt: randomBytes(16).toString('base64url'), ...(rejection && { rejection }) }
    const outcome = await advance(store.interactions, id, record =>
      record.stage === 'login' ? { ...record, ...members, stage: 'accepted', handoff } : undefined,
    )
    if (outcome.kind === 'expired') return { kind: 'unknown' }
    const decided = outcome.record.handoff
    if (decided?.callDigest !== callDigest) return conflict('A different decision was made before.')
    const token = resumeToken(id, decided.resumeSalt, keys.digest)
    return { kind: 'answer', body: { redirect_to: resumeUrl(options.issuer, id, token) } }
  }

  /**
   * Stores the subject, and then looks for a client with that id. The command that creates a client does the reverse,
   * so at least one of the two sees the other, although this process learns of a new client only later.
   */
  const claimSubject = async (sub: string): Promise<string | undefined> => {
    await rememberSubject(store.subjects, sub, keys.digest, clock.nowMs(), options)
    return (await store.clients.find(sub)) ? isClientId : undefined
  }

  return {
    describe: async id => {
      const found = await findInteraction(deps, id)
      return found ? { kind: 'answer', body: describe(found, options.scopeTexts) } : { kind: 'unknown' }
    },
    accept: async (id, body) => {
      const acceptance = parseAcceptance(body)
      if (typeof acceptance === 'string') return { kind: 'unreadable', reason: acceptance }
      const found = await findInteraction(deps, id)
      if (!found) return { kind: 'unknown' }
      const isOpen = found.record.stage === 'login'
      const reason = isOpen
        ? (conflictOf(deps, acceptance, found.record) ?? (await claimSubject(acceptance.sub)))
        : undefined
      return reason === undefined ? decide(id, toDecision(deps, acceptance, found.record)) : conflict(reason)
    },
    reject: async (id, body) => {
      const rejection = parseRejection(body)
      if (typeof rejection === 'string') return { kind: 'unreadable', reason: rejection }
      if (!(await findInteraction(deps, id))) return { kind: 'unknown' }
      return decide(id, { callDigest: keys.digest(`reject\0${canonical(rejection)}`), members: {}, rejection })
    },
  }
}

const toDecision = ({ keys, clock }: OAuthDeps, acceptance: Acceptance, record: InteractionRecord): Decision => {
  const { sub, username, acr, auth_time, granted_scopes } = acceptance
  return {
    callDigest: keys.digest(`accept\0${canonical(acceptance)}`),
    members: {
      sub,
      authTimeSec: auth_time ?? Math.floor(clock.nowMs() / 1000),
      scope: granted_scopes ? joinScope([...new Set(granted_scopes)]) : record.scope,
      ...(username !== undefined && { username }),
      ...(acr !== undefined && { acr }),
    },
  }
}

/** Why an acceptance does not fit the interaction, fit for the caller; undefined if it fits. */
const conflictOf = (
  { clients, clock }: OAuthDeps,
  acceptance: Acceptance,
  record: InteractionRecord,
): string | undefined => {
  const { sub, acr, auth_time, granted_scopes } = acceptance
  const asked = splitScope(record.scope)
  const contexts = splitScope(record.acr_values ?? '')
  // RFC 9700 section 4.15: otherwise a user could be taken for a client that acts for itself.
  if (clients.has(sub)) return isClientId
  if (contexts.length > 0 && !contexts.some(context => context === acr))
    return 'acr is not one of the requested acr_values.'
  if (granted_scopes?.length === 0 && asked.length > 0)
    return 'granted_scopes is empty; reject the interaction instead.'
  if (!(granted_scopes ?? []).every(scope => asked.includes(scope))) {
    return 'granted_scopes contains a scope that was not requested.'
  }
  const isAhead = auth_time !== undefined && auth_time * 1000 > clock.nowMs() + maxClockAheadMs
  return isAhead ? 'auth_time is in the future.' : undefined
}

const isClientId = 'sub is the id of a client.'

/** How far the clock of the operator's login may be ahead of ours. */
const maxClockAheadMs = 60_000

const conflict = (reason: string): LoginApiAnswer => ({ kind: 'conflict', reason })

/** Equal for equal bodies, whatever the order of their members. */
const canonical = (decision: object): string =>
  JSON.stringify(Object.entries(decision).toSorted(([one], [other]) => (one < other ? -1 : 1)))

const describe = ({ client, record }: Found, scopeTexts: ScopeTexts): Readonly<Record<string, unknown>> => {
  const { host } = new URL(record.redirect_uri)
  const scopes = splitScope(record.scope)
  return {
    client_id: client.client_id,
    client_name: client.client_name,
    ...(host !== '' && { redirect_host: host }), // a private-use scheme has no host
    scope: scopes,
    scope_texts: textsOf(scopes, scopeTexts),
    resource: record.resource,
    acr_values: splitScope(record.acr_values ?? ''),
    ui_locales: splitScope(record.ui_locales ?? ''),
    ...(record.login_hint !== undefined && { login_hint: record.login_hint }),
    expires_at: new Date(record.expiresAtMs).toISOString(),
  }
}

/** In every language, because the login knows which one the user reads. */
const textsOf = (scopes: readonly string[], scopeTexts: ScopeTexts): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    scopes.flatMap(scope => {
      const texts = scopeTexts.get(scope)
      return texts ? [[scope, texts]] : []
    }),
  )
