import { seeOther } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import { type Parameters, parseParameters } from '../forms/parameters.ts'
import { pageContextOf } from '../pages/page-context.ts'
import { finishedPage, foreignPage, unreadablePage } from '../pages/terminal-pages.ts'
import type { OAuthReply, OAuthRequest } from '../protocol.ts'
import { timingSafeEqualText } from '../timing-safe-equal.ts'
import { createBrowserBinding } from './browser-binding.ts'
import { createConsent } from './consent.ts'
import { isCrossOrigin } from './csrf.ts'
import { decryptRedirect } from './encrypt-redirect.ts'
import { createExpired } from './expired.ts'
import { createHandoff } from './handoff.ts'
import type { InteractionSession, PageSession } from './interaction-session.ts'
import { createLogin } from './login.ts'

/** What a browser does between the authorization request and its answer. @throws StoreUnavailableError */
export type Interaction = (request: OAuthRequest) => Promise<OAuthReply>

export const createInteraction = (deps: OAuthDeps): Interaction =>
  deps.options.login.mode === 'handoff' ? createHandoff(deps) : createEmbedded(deps)

/**
 * The embedded login and consent pages under `/interaction/<id>`: GET shows where the browser stands, POST moves it on.
 * Only the browser that the interaction was begun in gets past the door, and only with the page's own `csrf`.
 */
const createEmbedded = (deps: OAuthDeps): Interaction => {
  const { issuer } = deps.options
  const enter = createBrowserBinding(deps)
  const expired = createExpired(deps)
  const login = createLogin(deps)
  const consent = createConsent(deps)

  const show = (visit: PageSession): OAuthReply => {
    if (visit.record.stage === 'login') return login.show(visit)
    return visit.record.stage === 'consent' ? consent.show(visit) : finishedPage(visit.setting)
  }

  /** The answer to the sign-in was lost, and the new cookie with it. The form opens nothing that the password does not. */
  const showAgain = (visit: PageSession): OAuthReply =>
    visit.record.stage === 'consent' ? login.show(visit) : foreignPage(visit.setting)

  const submit = (visit: PageSession, form: Parameters, address: string): OAuthReply | Promise<OAuthReply> => {
    const { stage, redirect } = visit.record
    if (stage === 'login') return login.submit(visit, form, address)
    if (stage === 'consent') return consent.submit(visit, form)
    return redirect === undefined ? finishedPage(visit.setting) : seeOther(decryptRedirect(redirect, visit.secret))
  }

  return async request => {
    const entrance = await enter(request)
    if (entrance.kind === 'unknown') return expired(request)
    if (entrance.kind === 'foreign') return foreignPage(pageContextOf(issuer, request))
    const { kind, visit } = entrance
    const { setting } = visit
    if (request.method !== 'POST') return kind === 'visit' ? show(visit) : showAgain(visit)
    if (isCrossOrigin(request, issuer)) return foreignPage(setting)
    const form = parseParameters(request)
    if (typeof form === 'string') return unreadablePage(setting)
    if (!timingSafeEqualText(form.get('csrf') ?? '', visit.csrf)) {
      return kind === 'visit' && isPastSignIn(visit, form) ? seeOther(`/interaction/${visit.id}`) : foreignPage(setting)
    }
    if (form.faults.size > 0) return unreadablePage(setting)
    return kind === 'visit' ? submit(visit, form, request.address) : login.repeat(visit, form, request.address)
  }
}

/**
 * The form of the sign-in, whose `csrf` was of the cookie before, from a browser that has the new one: by the back button,
 * or sent twice. It changes nothing any more, so it may lead to where things stand.
 */
const isPastSignIn = ({ record }: InteractionSession, form: Parameters): boolean =>
  record.sub !== undefined && form.get('decision') === undefined
