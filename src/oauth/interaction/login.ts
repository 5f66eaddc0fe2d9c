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
import { createUsers, type Person } from './users.ts'

/** After this many wrong passwords the page comes again; the next wrong one ends the interaction. */
const mostFailedLogins = 5

/** The first stage: who is there. */
export interface Login {
  show(session: PageSession): OAuthReply
  submit(session: PageSession, form: Parameters, address: string): Promise<OAuthReply>
  /**
   * The sign-in form once more, with the cookie from before the sign-in: its second coming did not wait for the new
   * cookie, or that was lost on its way. Who proves again to be the person that signed in gets it; nobody else learns
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
      setting: session.setting,
      interactionId: session.id,
      csrf: session.csrf,
      clientName: session.client.client_name,
      redirect_uri: session.record.redirect_uri,
      ...(failure ? { failure } : {}),
    })

  const verify = async ({ name, username, password, address, from }: Proof): Promise<Person | undefined> => {
    const person = await users.verify(username, password, from)
    if (person) failures.proven(name, address)
    return person
  }

  const submitPassword = async (session: PageSession, proof: Proof): Promise<OAuthReply> => {
    const blockedMs = failures.blockedMs(proof.name, proof.address)
    if (blockedMs > 0) return show(session, tooMany(session, proof, blockedMs))
    const attempt = await advance(store.interactions, session.id, countAttempt)
    if (attempt.kind === 'gone') return expiredPage(session.setting)
    if (attempt.kind === 'overtaken') return overtaken(session, proof, attempt.record)
    const person = await verify(proof)
    return person ? signIn(session, person) : refuse(session, proof, attempt.record.failedLogins)
  }

  const overtaken = (
    session: PageSession,
    proof: Proof,
    record: InteractionRecord,
  ): OAuthReply | Promise<OAuthReply> => {
    if (record.stage === 'login') return giveUp(session)
    if (record.sub === undefined) return toNextPage(session.id)
    return proveAgain({ ...session, secret: renewed(session), record }, proof)
  }

  const giveUp = (session: InteractionSession): Promise<OAuthReply> =>
    completion.decline(session, 'access_denied', 'Too many wrong passwords.')

  const refuse = async (session: PageSession, proof: Proof, failedLogins: number): Promise<OAuthReply> => {
    const waitMs = await failures.count(proof.name, proof.address)
    const fact = failureOf(proof, waitMs)
    if (failedLogins > mostFailedLogins) return withSignIn(await giveUp(session), session, fact)
    return withSignIn(
      show(session, waitMs > 0 ? tooMany(session, proof, waitMs) : wrong(session, proof, failedLogins)),
      session,
      fact,
    )
  }

  const failureOf = ({ username }: Proof, waitMs: number): SignIn => ({
    outcome: waitMs > 0 ? 'blocked' : 'refused',
    sub: users.subOf(username),
  })

  const signIn = async (session: InteractionSession, person: Person): Promise<OAuthReply> => {
    const authTimeSec = Math.floor(clock.nowMs() / 1000)
    const secret = renewed(session)
    const browserDigest = keys.digest(secret)
    const signedIn = await advance(store.interactions, session.id, record =>
      record.stage === 'login' ? { ...record, ...person, stage: 'consent', authTimeSec, browserDigest } : undefined,
    )
    if (signedIn.kind === 'gone') return expiredPage(session.setting)
    const reply = goOn({ ...session, ...signedIn, secret }, person)
    return signedIn.kind === 'advanced' ? withSignIn(reply, session, { outcome: 'done', sub: person.sub }) : reply
  }

  const renewed = (session: InteractionSession): string => renewSecret(session.id, session.secret, keys.digest)

  /** On from a sign-in, this one or a faster one of the same person, with the cookie that it renewed. */
  const goOn = ({ id, secret, record, setting }: InteractionSession, person: Person): OAuthReply => {
    if (record.sub === undefined) return toNextPage(id)
    if (record.sub !== person.sub) return foreignPage(setting)
    const lifetimeSec = Math.ceil((record.expiresAtMs - clock.nowMs()) / 1000)
    return toNextPage(id, { 'set-cookie': cookie.toSetCookie(id, secret, lifetimeSec) })
  }

  const proveAgain = async (session: PageSession, proof: Proof): Promise<OAuthReply> => {
    const blockedMs = failures.blockedMs(proof.name, proof.address)
    if (blockedMs > 0) return show(session, tooMany(session, proof, blockedMs))
    const person = await verify(proof)
    // Somebody else of ours is told what a wrong password is told: who signed in is not for others to learn.
    if (person)
      return person.sub === session.record.sub ? goOn(session, person) : show(session, wrong(session, proof, 0))
    const waitMs = await failures.count(proof.name, proof.address)
    const page = show(session, waitMs > 0 ? tooMany(session, proof, waitMs) : wrong(session, proof, 0))
    return withSignIn(page, session, failureOf(proof, waitMs))
  }

  /** One check of a password after those before it; how busy this process is may be its answer. */
  const inTurn = async (
    { setting }: InteractionSession,
    form: Parameters,
    address: string,
    check: (proof: Proof) => Promise<OAuthReply>,
  ): Promise<OAuthReply> => {
    try {
      const proof = readProof(form, address, keys.digest)
      return await failures.inTurn(proof.name, address, from => check({ ...proof, from }))
    } catch (error) {
      if (error instanceof OAuthError && error.code === 'temporarily_unavailable') return busyPage(setting)
      throw error
    }
  }

  return {
    show: session => show(session),
    submit: async (session, form, address) =>
      form.get('decision') === 'deny'
        ? completion.decline(session, 'access_denied', 'The sign-in was cancelled.')
        : inTurn(session, form, address, proof => submitPassword(session, proof)),
    repeat: async (session, form, address) => {
      const decision = form.get('decision')
      if (decision === 'deny') return completion.withdraw(session, 'access_denied', 'The sign-in was cancelled.')
      if (decision !== undefined) return foreignPage(session.setting)
      return inTurn(session, form, address, proof => proveAgain(session, proof))
    },
  }
}

interface Proof {
  readonly username: string
  readonly password: Secret
  readonly address: string
  /** The address as failures are counted by it. */
  readonly from: string
  /** What failures are counted under: of bounded length, and never a client's name. */
  readonly name: string
}

const readProof = (form: Parameters, address: string, digest: (text: string) => string): Omit<Proof, 'from'> => {
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
  record.stage === 'login' && record.failedLogins <= mostFailedLogins
    ? { ...record, failedLogins: record.failedLogins + 1 }
    : undefined

const withSignIn = (reply: OAuthReply, { client }: InteractionSession, signIn: SignIn): OAuthReply => ({
  ...reply,
  facts: { ...reply.facts, client_id: client.client_id, signIn },
})

/** GET again, so that a reload repeats no password. Where all is done by now, that page says so. */
const toNextPage = (interactionId: string, headers: OAuthReply['headers'] = {}): OAuthReply =>
  seeOther(`/interaction/${interactionId}`, headers)

const wrong = ({ setting }: InteractionSession, { username }: Proof, failedLogins: number): SignInFailure => {
  const { wrong, lastTry } = setting.texts.signIn
  return { status: 400, username, text: failedLogins === mostFailedLogins ? `${wrong} ${lastTry}` : wrong }
}

const tooMany = ({ setting }: InteractionSession, { username }: Proof, waitMs: number): SignInFailure => {
  const waitSec = Math.ceil(waitMs / 1000) // RFC 9110 section 10.2.3: whole seconds
  return {
    status: 429,
    username,
    text: setting.texts.signIn.tooMany(waitSec),
    headers: { 'retry-after': String(waitSec) },
  }
}
