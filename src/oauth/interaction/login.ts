import { OAuthError } from '../../errors.ts'
import { Secret } from '../../secret.ts'
import type { InteractionRecord } from '../../stores/ports/interactions.ts'
import { seeOther } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Parameters } from '../forms/parameters.ts'
import { type SignInFailure, signInPage } from '../pages/sign-in-page.ts'
import { busyPage, expiredPage, foreignPage } from '../pages/terminal-pages.ts'
import type { OAuthReply, SignIn } from '../protocol.ts'
import { renewSecret } from './browser-binding.ts'
import { createCompletion } from './completion.ts'
import { createBrowserCookie } from './cookie.ts'
import { advance, type Change, type InteractionSession, type PageSession } from './interaction-session.ts'
import { type AuthenticatedUser, createUsers } from './users.ts'

/** After this many wrong passwords the page comes again; the next wrong one ends the interaction. */
const maxFailedLogins = 5

/** The first stage: who is there. */
export interface Login {
  show(session: PageSession): OAuthReply
  submit(session: PageSession, form: Parameters, address: string): Promise<OAuthReply>
  /**
   * The sign-in form once more, with the cookie from before the sign-in: its second coming did not wait for the new
   * cookie, or that was lost on its way. Who proves again to be the user that signed in gets it; nobody else learns
   * anything. It may be declined too, so that the client is told.
   */
  repeat(session: PageSession, form: Parameters, address: string): Promise<OAuthReply>
}

export const createLogin = (deps: OAuthDeps): Login => {
  const { options, store, clock, failures, keys } = deps
  const users = createUsers(options.users, keys.digest)
  const completion = createCompletion(deps)
  const cookie = createBrowserCookie(options.issuer)

  const show = (session: PageSession, failure?: SignInFailure): OAuthReply =>
    signInPage({
      pageContext: session.pageContext,
      interactionId: session.id,
      csrf: session.csrf,
      clientName: session.client.client_name,
      redirect_uri: session.record.redirect_uri,
      ...(failure ? { failure } : {}),
    })

  const verify = async ({
    name,
    username,
    password,
    address,
    from,
  }: PasswordAttempt): Promise<AuthenticatedUser | undefined> => {
    const user = await users.verify(username, password, from)
    if (user) failures.proven(name, address)
    return user
  }

  const submitPassword = async (session: PageSession, attempt: PasswordAttempt): Promise<OAuthReply> => {
    const blockedMs = failures.blockedMs(attempt.name, attempt.address)
    if (blockedMs > 0) return show(session, tooMany(session, attempt, blockedMs))
    const counted = await advance(store.interactions, session.id, countAttempt)
    if (counted.kind === 'gone') return expiredPage(session.pageContext)
    if (counted.kind === 'overtaken') return overtaken(session, attempt, counted.record)
    const user = await verify(attempt)
    return user ? signIn(session, user) : refuse(session, attempt, counted.record.failedLogins)
  }

  const overtaken = (
    session: PageSession,
    attempt: PasswordAttempt,
    record: InteractionRecord,
  ): OAuthReply | Promise<OAuthReply> => {
    if (record.stage === 'login') return giveUp(session)
    if (record.sub === undefined) return toNextPage(session.id)
    return reauthenticate({ ...session, secret: renewed(session), record }, attempt)
  }

  const giveUp = (session: InteractionSession): Promise<OAuthReply> =>
    completion.decline(session, 'access_denied', 'Too many wrong passwords.')

  const refuse = async (session: PageSession, attempt: PasswordAttempt, failedLogins: number): Promise<OAuthReply> => {
    const waitMs = await failures.count(attempt.name, attempt.address)
    const fact = failureOf(attempt, waitMs)
    if (failedLogins > maxFailedLogins) return withSignIn(await giveUp(session), session, fact)
    return withSignIn(
      show(session, waitMs > 0 ? tooMany(session, attempt, waitMs) : wrong(session, attempt, failedLogins)),
      session,
      fact,
    )
  }

  const failureOf = ({ username }: PasswordAttempt, waitMs: number): SignIn => ({
    outcome: waitMs > 0 ? 'blocked' : 'refused',
    sub: users.subOf(username),
  })

  const signIn = async (session: InteractionSession, user: AuthenticatedUser): Promise<OAuthReply> => {
    const authTimeSec = Math.floor(clock.nowMs() / 1000)
    const secret = renewed(session)
    const browserDigest = keys.digest(secret)
    const signedIn = await advance(store.interactions, session.id, record =>
      record.stage === 'login' ? { ...record, ...user, stage: 'consent', authTimeSec, browserDigest } : undefined,
    )
    if (signedIn.kind === 'gone') return expiredPage(session.pageContext)
    const reply = proceedToConsent({ ...session, ...signedIn, secret }, user)
    return signedIn.kind === 'advanced' ? withSignIn(reply, session, { outcome: 'done', sub: user.sub }) : reply
  }

  const renewed = (session: InteractionSession): string => renewSecret(session.id, session.secret, keys.digest)

  /** On from a sign-in, this one or a faster one of the same user, with the cookie that it renewed. */
  const proceedToConsent = (
    { id, secret, record, pageContext }: InteractionSession,
    user: AuthenticatedUser,
  ): OAuthReply => {
    if (record.sub === undefined) return toNextPage(id)
    if (record.sub !== user.sub) return foreignPage(pageContext)
    const lifetimeSec = Math.ceil((record.expiresAtMs - clock.nowMs()) / 1000)
    return toNextPage(id, { 'set-cookie': cookie.toSetCookie(id, secret, lifetimeSec) })
  }

  const reauthenticate = async (session: PageSession, attempt: PasswordAttempt): Promise<OAuthReply> => {
    const blockedMs = failures.blockedMs(attempt.name, attempt.address)
    if (blockedMs > 0) return show(session, tooMany(session, attempt, blockedMs))
    const user = await verify(attempt)
    // Somebody else of ours is told what a wrong password is told: who signed in is not for others to learn.
    if (user)
      return user.sub === session.record.sub
        ? proceedToConsent(session, user)
        : show(session, wrong(session, attempt, 0))
    const waitMs = await failures.count(attempt.name, attempt.address)
    const page = show(session, waitMs > 0 ? tooMany(session, attempt, waitMs) : wrong(session, attempt, 0))
    return withSignIn(page, session, failureOf(attempt, waitMs))
  }

  /** One check of a password after those before it; how busy this process is may be its answer. */
  const inTurn = async (
    { pageContext }: InteractionSession,
    form: Parameters,
    address: string,
    check: (attempt: PasswordAttempt) => Promise<OAuthReply>,
  ): Promise<OAuthReply> => {
    try {
      const attempt = readAttempt(form, address, keys.digest)
      return await failures.inTurn(attempt.name, address, from => check({ ...attempt, from }))
    } catch (error) {
      if (error instanceof OAuthError && error.code === 'temporarily_unavailable') return busyPage(pageContext)
      throw error
    }
  }

  return {
    show: session => show(session),
    submit: async (session, form, address) =>
      form.get('decision') === 'deny'
        ? completion.decline(session, 'access_denied', 'The sign-in was cancelled.')
        : inTurn(session, form, address, attempt => submitPassword(session, attempt)),
    repeat: async (session, form, address) => {
      const decision = form.get('decision')
      if (decision === 'deny') return completion.abort(session, 'access_denied', 'The sign-in was cancelled.')
      if (decision !== undefined) return foreignPage(session.pageContext)
      return inTurn(session, form, address, attempt => reauthenticate(session, attempt))
    },
  }
}

interface PasswordAttempt {
  readonly username: string
  readonly password: Secret
  readonly address: string
  /** The address as failures are counted by it. */
  readonly from: string
  /** What failures are counted under: of bounded length, and never a client's name. */
  readonly name: string
}

const readAttempt = (
  form: Parameters,
  address: string,
  digest: (text: string) => string,
): Omit<PasswordAttempt, 'from'> => {
  const username = form.get('username') ?? ''
  return {
    username,
    password: new Secret(form.get('password') ?? ''),
    address,
    name: `user:${digest(username)}`,
  }
}

/** Counted before the password is looked at: else many guesses sent at once would all be the first. */
const countAttempt: Change = record =>
  record.stage === 'login' && record.failedLogins <= maxFailedLogins
    ? { ...record, failedLogins: record.failedLogins + 1 }
    : undefined

const withSignIn = (reply: OAuthReply, { client }: InteractionSession, signIn: SignIn): OAuthReply => ({
  ...reply,
  facts: { ...reply.facts, client_id: client.client_id, signIn },
})

/** GET again, so that a reload repeats no password. Where all is done by now, that page says so. */
const toNextPage = (interactionId: string, headers: OAuthReply['headers'] = {}): OAuthReply =>
  seeOther(`/interaction/${interactionId}`, headers)

const wrong = (
  { pageContext }: InteractionSession,
  { username }: PasswordAttempt,
  failedLogins: number,
): SignInFailure => {
  const { wrong, lastTry } = pageContext.texts.signIn
  return { status: 400, username, text: failedLogins === maxFailedLogins ? `${wrong} ${lastTry}` : wrong }
}

const tooMany = ({ pageContext }: InteractionSession, { username }: PasswordAttempt, waitMs: number): SignInFailure => {
  const waitSec = Math.ceil(waitMs / 1000) // RFC 9110 section 10.2.3: whole seconds
  return {
    status: 429,
    username,
    text: pageContext.texts.signIn.tooMany(waitSec),
    headers: { 'retry-after': String(waitSec) },
  }
}
