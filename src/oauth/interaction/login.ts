import { OAuthError } from '../../errors.ts'
import type { InteractionRecord } from '../../stores/ports/interactions.ts'
import { seeOther } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Parameters } from '../forms/parameters.ts'
import { type SignInFailure, signInPage, tooManyPasswords, wrongPassword } from '../pages/sign-in-page.ts'
import { busyPage, expiredPage, foreignPage } from '../pages/terminal-pages.ts'
import type { OAuthReply, SignIn } from '../protocol.ts'
import { renewSecret } from './browser-binding.ts'
import type { Completion } from './completion.ts'
import { createBrowserCookie } from './cookie.ts'
import { advance, type Change, type InteractionSession, type PageSession } from './interaction-session.ts'
import { createPasswordCheck, type PasswordAttempt } from './password-check.ts'
import type { AuthenticatedUser } from './users.ts'

/** After this many wrong passwords the user may try once more. The next wrong password ends the interaction. */
const maxFailedLogins = 5

/** The first stage of an interaction: the user signs in. */
export interface Login {
  show(session: PageSession): OAuthReply
  submit(session: PageSession, form: Parameters, address: string): Promise<OAuthReply>
  /**
   * The sign-in form, sent again with the cookie from before the sign-in: the browser sent it before the new cookie
   * arrived, or the response with that cookie was lost. If the password belongs to the same user, the browser
   * gets the new cookie. Any other browser learns nothing. The user may decline too, so that the client gets an error.
   */
  repeat(session: PageSession, form: Parameters, address: string): Promise<OAuthReply>
}

export const createLogin = (deps: OAuthDeps, completion: Completion): Login => {
  const { store, clock, keys } = deps
  const passwords = createPasswordCheck(deps)
  const proceedToConsent = createConsentRedirect(deps)

  const submitPassword = async (session: PageSession, attempt: PasswordAttempt): Promise<OAuthReply> => {
    const blockedMs = passwords.blockedMs(attempt)
    if (blockedMs > 0) return showFailure(session, attempt, blockedMs)
    const counted = await advance(store.interactions, session.id, countAttempt)
    if (counted.kind === 'expired') return expiredPage(session.pageContext)
    if (counted.kind === 'overtaken') return overtaken(session, attempt, counted.record)
    const user = await passwords.verify(attempt)
    return user ? signIn(session, user) : refuse(session, attempt, counted.record.failedLogins)
  }

  const overtaken = async (
    session: PageSession,
    attempt: PasswordAttempt,
    record: InteractionRecord,
  ): Promise<OAuthReply> => {
    if (record.stage === 'login') return giveUp(session)
    if (record.sub === undefined) return toNextPage(session.id)
    return reauthenticate({ ...session, secret: renewed(session), record }, attempt)
  }

  const refuse = async (session: PageSession, attempt: PasswordAttempt, failedLogins: number): Promise<OAuthReply> => {
    const { waitMs, signIn } = await passwords.countFailure(attempt)
    const reply =
      failedLogins > maxFailedLogins
        ? await giveUp(session)
        : showFailure(session, attempt, waitMs, failedLogins === maxFailedLogins)
    return withSignIn(reply, session, signIn)
  }

  const giveUp = (session: InteractionSession): Promise<OAuthReply> =>
    completion.decline(session, 'access_denied', 'Too many wrong passwords.')

  const signIn = async (session: InteractionSession, user: AuthenticatedUser): Promise<OAuthReply> => {
    const authTimeSec = Math.floor(clock.nowMs() / 1000)
    const secret = renewed(session)
    const browserDigest = keys.digest(secret)
    const signedIn = await advance(store.interactions, session.id, record =>
      record.stage === 'login' ? { ...record, ...user, stage: 'consent', authTimeSec, browserDigest } : undefined,
    )
    if (signedIn.kind === 'expired') return expiredPage(session.pageContext)
    const reply = proceedToConsent({ ...session, ...signedIn, secret }, user)
    return signedIn.kind === 'advanced' ? withSignIn(reply, session, { outcome: 'done', sub: user.sub }) : reply
  }

  const renewed = (session: InteractionSession): string => renewSecret(session.id, session.secret, keys.digest)

  const reauthenticate = async (session: PageSession, attempt: PasswordAttempt): Promise<OAuthReply> => {
    const blockedMs = passwords.blockedMs(attempt)
    if (blockedMs > 0) return showFailure(session, attempt, blockedMs)
    const user = await passwords.verify(attempt)
    if (user && user.sub === session.record.sub) return proceedToConsent(session, user)
    // A different user gets the response to a wrong password, because the response must not show which user signed in.
    if (user) return showFailure(session, attempt, 0)
    const { waitMs, signIn } = await passwords.countFailure(attempt)
    return withSignIn(showFailure(session, attempt, waitMs), session, signIn)
  }

  return {
    show: session => show(session),
    submit: async (session, form, address) =>
      form.get('decision') === 'deny'
        ? completion.decline(session, 'access_denied', 'The sign-in was cancelled.')
        : busyOr(session, () => passwords.inTurn(form, address, attempt => submitPassword(session, attempt))),
    repeat: async (session, form, address) => {
      const decision = form.get('decision')
      if (decision === 'deny') return completion.abort(session, 'access_denied', 'The sign-in was cancelled.')
      if (decision !== undefined) return foreignPage(session.pageContext)
      return busyOr(session, () => passwords.inTurn(form, address, attempt => reauthenticate(session, attempt)))
    },
  }
}

/** Redirects to the consent page with the renewed cookie, after this sign-in or a faster one of the same user. */
type ConsentRedirect = (session: InteractionSession, user: AuthenticatedUser) => OAuthReply

const createConsentRedirect = ({ options, clock }: OAuthDeps): ConsentRedirect => {
  const cookie = createBrowserCookie(options.issuer)
  return ({ id, secret, record, pageContext }, user) => {
    if (record.sub === undefined) return toNextPage(id)
    if (record.sub !== user.sub) return foreignPage(pageContext)
    const lifetimeSec = Math.ceil((record.expiresAtMs - clock.nowMs()) / 1000)
    return toNextPage(id, { 'set-cookie': cookie.toSetCookie(id, secret, lifetimeSec) })
  }
}

/**
 * The attempt is counted before the password is checked: otherwise guesses sent all at once would each be the first.
 */
const countAttempt: Change = record =>
  record.stage === 'login' && record.failedLogins <= maxFailedLogins
    ? { ...record, failedLogins: record.failedLogins + 1 }
    : undefined

/** The response of `run`, or the busy page if too many passwords are being checked. */
const busyOr = async ({ pageContext }: InteractionSession, run: () => Promise<OAuthReply>): Promise<OAuthReply> => {
  try {
    return await run()
  } catch (error) {
    if (error instanceof OAuthError && error.code === 'temporarily_unavailable') return busyPage(pageContext)
    throw error
  }
}

const withSignIn = (reply: OAuthReply, { client }: InteractionSession, signIn: SignIn): OAuthReply => ({
  ...reply,
  facts: { ...reply.facts, client_id: client.client_id, signIn },
})

/** Redirects to a GET, so that a reload sends no password again. If the interaction is done, that page shows it. */
const toNextPage = (interactionId: string, headers: OAuthReply['headers'] = {}): OAuthReply =>
  seeOther(`/interaction/${interactionId}`, headers)

const show = (session: PageSession, failure?: SignInFailure): OAuthReply =>
  signInPage({
    pageContext: session.pageContext,
    interactionId: session.id,
    csrf: session.csrf,
    clientName: session.client.client_name,
    redirect_uri: session.record.redirect_uri,
    ...(failure ? { failure } : {}),
  })

/** @param waitMs above 0 if there were too many wrong passwords */
const showFailure = (
  session: PageSession,
  { username }: PasswordAttempt,
  waitMs: number,
  isLastTry = false,
): OAuthReply => {
  const { texts } = session.pageContext
  return show(
    session,
    waitMs > 0 ? tooManyPasswords(texts, username, waitMs) : wrongPassword(texts, username, isLastTry),
  )
}
