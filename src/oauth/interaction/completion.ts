import { seeOther, toCodeRedirect, toErrorRedirect } from '../authorize/response.ts'
import type { OAuthDeps } from '../deps.ts'
import { expiredPage } from '../pages/dead-ends.ts'
import { codeProof, newGrantId, newGrantSecret } from '../tokens/code.ts'
import type { OAuthReply } from '../wire.ts'
import { openRedirect, sealRedirect } from './seal.ts'
import { type Advance, advance, type Visit } from './visit.ts'

/** The end of an interaction: one redirect to the client, the same one for every form that says the same again. */
export interface Completion {
  /** Creates the grant and sends its code. Only after consent; a visit without a person is a TypeError. */
  allow(visit: Visit): Promise<OAuthReply>
  /** access_denied (RFC 6749 section 4.1.2.1); nothing redeemable comes to be. */
  decline(visit: Visit, description: string): Promise<OAuthReply>
}

export const createCompletion = (deps: OAuthDeps): Completion => {
  const { options, store } = deps

  const settle = (visit: Visit, redirect: string): Promise<Advance> =>
    advance(store.interactions, visit.id, record =>
      record.stage === 'done'
        ? undefined
        : { ...record, stage: 'done', redirect: sealRedirect(redirect, visit.browserSecret) },
    )

  /** To where the interaction ended, by this request or by a faster one. */
  const leave = (visit: Visit, outcome: Advance, error?: string): OAuthReply => {
    if (outcome.kind === 'gone' || outcome.record.redirect === undefined) return expiredPage(options.issuer)
    const reply = seeOther(openRedirect(outcome.record.redirect, visit.browserSecret))
    return { ...reply, facts: { client_id: visit.client.client_id, ...(error ? { error } : {}) } }
  }

  return {
    allow: async visit => {
      const { grantId, code } = await createGrant(deps, visit)
      const outcome = await settle(visit, toCodeRedirect(visit.record, code, options.issuer))
      if (outcome.kind !== 'advanced') await store.grants.remove(grantId)
      return leave(visit, outcome)
    },
    decline: async (visit, description) => {
      const redirect = toErrorRedirect(visit.record, 'access_denied', description, options.issuer)
      return leave(visit, await settle(visit, redirect), 'access_denied')
    },
  }
}

/** Before the interaction is done, so that no browser is ever sent off with a code that nobody knows. */
const createGrant = async (
  { options, store, keys, clock }: OAuthDeps,
  { record }: Visit,
): Promise<{ readonly grantId: string; readonly code: string }> => {
  const { client_id, sub, username, scope, resource, authTimeSec } = record
  if (sub === undefined || username === undefined || authTimeSec === undefined) {
    throw new TypeError('consent was given before anybody signed in')
  }
  const grantId = newGrantId()
  const code = newGrantSecret(grantId)
  const codeExpiresAtMs = clock.nowMs() + options.code.lifetimeSec * 1000
  await store.grants.create({
    grantId,
    record: { client_id, sub, username, scope, resource, authTimeSec },
    codeDigest: keys.digest(code),
    codeProof: codeProof(client_id, record.redirectUriSent ? record.redirect_uri : '', record.code_challenge ?? ''),
    codeExpiresAtMs,
    // Longer than the code, so that a replay is known for one while the tokens of its first use may live.
    untilMs: codeExpiresAtMs + options.accessToken.lifetimeSec * 1000,
  })
  return { grantId, code }
}
