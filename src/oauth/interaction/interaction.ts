import { seeOther } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import { type Parameters, parseParameters } from '../forms/parameters.ts'
import { pageContextOf } from '../pages/page.ts'
import { finishedPage, foreignPage, unreadablePage } from '../pages/terminal-pages.ts'
import type { OAuthReply, OAuthRequest } from '../protocol.ts'
import { timingSafeEqualText } from '../timing-safe-equal.ts'
import { createBrowserBinding } from './browser-binding.ts'
import { createCompletion } from './completion.ts'
import { createConsent } from './consent.ts'
import { isCrossOrigin } from './csrf.ts'
import { decryptRedirect } from './encrypt-redirect.ts'
import { createExpired } from './expired.ts'
import { createHandoff } from './handoff.ts'
import type { InteractionSession, PageSession } from './interaction-session.ts'
import { createLogin } from './login.ts'

/** The browser's requests between the authorization request and its response. @throws StoreUnavailableError */
export type Interaction = (request: OAuthRequest) => Promise<OAuthReply>

export const createInteraction = (deps: OAuthDeps): Interaction =>
  deps.options.login.mode === 'handoff' ? createHandoff(deps) : createEmbedded(deps)

/**
 * The embedded login and consent pages under `/interaction/<id>`. GET shows the page of the current stage, POST
 * advances the interaction. Only the browser that started the interaction may use it, and a POST needs the `csrf` of
 * the page.
 */
const createEmbedded = (deps: OAuthDeps): Interaction => {
  const { issuer } = deps.options
  const findBound = createBrowserBinding(deps)
  const expired = createExpired(deps)
  const completion = createCompletion(deps)
  const login = createLogin(deps, completion)
  const consent = createConsent(deps, completion)

  const show = (session: PageSession): OAuthReply => {
    if (session.record.stage === 'login') return login.show(session)
    return session.record.stage === 'consent' ? consent.show(session) : finishedPage(session.pageContext)
  }

  /** The response to the sign-in was lost, and the new cookie with it. The form grants nothing without the password. */
  const showAgain = (session: PageSession): OAuthReply =>
    session.record.stage === 'consent' ? login.show(session) : foreignPage(session.pageContext)

  const submit = (session: PageSession, form: Parameters, address: string): OAuthReply | Promise<OAuthReply> => {
    const { stage, redirect } = session.record
    if (stage === 'login') return login.submit(session, form, address)
    if (stage === 'consent') return consent.submit(session, form)
    return redirect === undefined
      ? finishedPage(session.pageContext)
      : seeOther(decryptRedirect(redirect, session.secret))
  }

  return async request => {
    const bound = await findBound(request)
    if (bound.kind === 'unknown') return expired(request)
    if (bound.kind === 'foreign') return foreignPage(pageContextOf(issuer, request))
    const { kind, session } = bound
    const { pageContext } = session
    if (request.method !== 'POST') return kind === 'bound' ? show(session) : showAgain(session)
    if (isCrossOrigin(request, issuer)) return foreignPage(pageContext)
    const form = parseParameters(request)
    if (typeof form === 'string') return unreadablePage(pageContext)
    if (!timingSafeEqualText(form.get('csrf') ?? '', session.csrf)) {
      return kind === 'bound' && isPastSignIn(session, form)
        ? seeOther(`/interaction/${session.id}`)
        : foreignPage(pageContext)
    }
    if (form.faults.size > 0) return unreadablePage(pageContext)
    return kind === 'bound' ? submit(session, form, request.address) : login.repeat(session, form, request.address)
  }
}

/**
 * Whether this is the sign-in form with the `csrf` of the previous cookie, from a browser that has the new cookie:
 * the user went back in the history, or sent the form twice. The form no longer changes anything, so the browser may
 * be redirected to the page of the current stage.
 */
const isPastSignIn = ({ record }: InteractionSession, form: Parameters): boolean =>
  record.sub !== undefined && form.get('decision') === undefined
