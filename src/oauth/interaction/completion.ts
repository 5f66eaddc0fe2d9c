import { type AuthorizationErrorCode, seeOther, toCodeRedirect, toErrorRedirect } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import { codeProof, newGrantId, newGrantSecret } from '../opaque-token.ts'
import { answeredElsewherePage, expiredPage, foreignPage } from '../pages/terminal-pages.ts'
import type { InteractionOutcome, OAuthReply } from '../protocol.ts'
import { decryptRedirect, encryptRedirect } from './encrypt-redirect.ts'
import { type Advance, advance, type InteractionSession } from './interaction-session.ts'
import { createReturnCookie } from './return-cookie.ts'

/** Ends an interaction with one redirect to the client. A form that is sent again gets the same redirect. */
export interface Completion {
  /** Creates the grant and redirects with its code. Call it only after consent. @throws TypeError without a user */
  allow(session: InteractionSession): Promise<OAuthReply>
  /** Redirects with an error (RFC 6749 section 4.1.2.1). No grant is created. */
  decline(session: InteractionSession, error: AuthorizationErrorCode, description: string): Promise<OAuthReply>
  /**
   * As `decline`, for a browser that is not authenticated as the user's. If the interaction has ended in another way,
   * the browser does not learn how.
   */
  abort(session: InteractionSession, error: AuthorizationErrorCode, description: string): Promise<OAuthReply>
}

export const createCompletion = (deps: OAuthDeps): Completion => {
  const { options, store, clock } = deps
  const returnCookie = createReturnCookie(deps)

  /** One pushed request gets one response, even if it was opened in several windows (RFC 9126 section 7.3). */
  const endPushedRequest = ({ id, record }: InteractionSession): boolean | Promise<boolean> =>
    record.pushedId === undefined ||
    store.pushed.complete(record.pushedId, id, clock.nowMs() + options.interactionLifetimeSec * 1000)

  const finish = (session: InteractionSession, redirect: string): Promise<Advance> =>
    advance(store.interactions, session.id, record =>
      // After a sign-in in another window, the browser has a renewed cookie, which could not decrypt this redirect.
      record.stage === 'done' || record.browserDigest !== session.record.browserDigest
        ? undefined
        : { ...record, stage: 'done', redirect: encryptRedirect(redirect, session.secret) },
    )

  /** The redirect that ended the interaction, whether this request ended it or a faster one. */
  const toReply = (
    session: InteractionSession,
    outcome: Advance,
    result: InteractionOutcome,
    error?: string,
  ): OAuthReply => {
    if (outcome.kind === 'expired') return expiredPage(session.pageContext)
    const { redirect, browserDigest } = outcome.record
    // The window that signed in continues.
    if (redirect === undefined || browserDigest !== session.record.browserDigest) {
      return seeOther(`/interaction/${session.id}`)
    }
    const reply = seeOther(decryptRedirect(redirect, session.secret), {
      'set-cookie': returnCookie.toClearCookie(session.id),
    })
    if (outcome.kind === 'overtaken') return { ...reply, facts: { client_id: session.client.client_id } }
    const { sub, scope } = outcome.record
    const facts = { client_id: session.client.client_id, interaction: result, sub, scope }
    return { ...reply, facts: error === undefined ? facts : { ...facts, error } }
  }

  const decline: Completion['decline'] = async (session, error, description) => {
    if (!(await endPushedRequest(session))) return answeredElsewherePage(session.pageContext)
    const redirect = toErrorRedirect(session.record, error, description, options.issuer)
    return toReply(session, await finish(session, redirect), 'rejected', error)
  }

  return {
    allow: async session => {
      if (!(await endPushedRequest(session))) return answeredElsewherePage(session.pageContext)
      const { grantId, code } = await createGrant(deps, session)
      const outcome = await finish(session, toCodeRedirect(session.record, code, options.issuer))
      if (outcome.kind !== 'advanced') await store.grants.remove(grantId)
      return toReply(session, outcome, 'accepted')
    },
    decline,
    abort: async (session, error, description) => {
      const reply = await decline(session, error, description)
      const { location } = reply.headers
      const isOwn = location === toErrorRedirect(session.record, error, description, options.issuer)
      return location === undefined || isOwn ? reply : foreignPage(session.pageContext)
    },
  }
}

/** The grant is created before the interaction is done, so that no browser gets a code that the store does not have. */
const createGrant = async (
  { options, store, keys, clock }: OAuthDeps,
  { record }: InteractionSession,
): Promise<{ readonly grantId: string; readonly code: string }> => {
  const { client_id, sub, username, scope, resource, authTimeSec, acr, beganAtSec } = record
  if (sub === undefined || authTimeSec === undefined) {
    throw new TypeError('consent was given before the sign-in')
  }
  const grantId = newGrantId()
  const code = newGrantSecret(grantId)
  const codeExpiresAtMs = clock.nowMs() + options.code.lifetimeSec * 1000
  const redirectUri = record.redirectUriSent ? record.redirect_uri : ''
  const began = beganAtSec !== undefined && { beganAtSec }
  const user = { sub, ...(username !== undefined && { username }), ...(acr !== undefined && { acr }) }
  await store.grants.create({
    grantId,
    record: { client_id, ...user, scope, resource, authTimeSec, ...began },
    codeDigest: keys.digest(code),
    codeProof: codeProof(client_id, redirectUri, record.code_challenge ?? '', record.dpop_jkt),
    codeExpiresAtMs,
    // Longer than the code, so that a replay of the code is detected while the tokens of its first use may be valid.
    untilMs: codeExpiresAtMs + options.accessToken.lifetimeSec * 1000,
  })
  return { grantId, code }
}
