import { timingSafeEqual } from 'node:crypto'
import { isRegisteredRedirect } from '../authorize/redirect-uri.ts'
import { seeOther } from '../authorize/response.ts'
import type { OAuthDeps } from '../deps.ts'
import { type Parameters, parseParameters } from '../forms/parameters.ts'
import { expiredPage, finishedPage, foreignPage, unreadablePage } from '../pages/dead-ends.ts'
import type { OAuthReply, OAuthRequest } from '../wire.ts'
import { createConsent } from './consent.ts'
import { createInteractionCookie } from './cookie.ts'
import { createLogin } from './login.ts'
import { openRedirect } from './seal.ts'
import type { Visit } from './visit.ts'

/**
 * The embedded login and consent pages under `/interaction/<id>`: GET shows where the browser stands, POST moves it on.
 * Only the browser that the interaction was begun in gets past the door, and only with the page's own `csrf`.
 * @throws StoreUnavailableError
 */
export const createInteraction = (deps: OAuthDeps): ((request: OAuthRequest) => Promise<OAuthReply>) => {
  const { issuer } = deps.options
  const findVisit = createDoor(deps)
  const login = createLogin(deps)
  const consent = createConsent(deps)

  const show = (visit: Visit): OAuthReply => {
    if (visit.record.stage === 'login') return login.show(visit)
    return visit.record.stage === 'consent' ? consent.show(visit) : finishedPage(issuer)
  }

  const submit = (visit: Visit, form: Parameters, address: string): OAuthReply | Promise<OAuthReply> => {
    const { stage, redirect } = visit.record
    if (stage === 'login') return login.submit(visit, form, address)
    if (stage === 'consent') return consent.submit(visit, form)
    return redirect === undefined ? finishedPage(issuer) : seeOther(openRedirect(redirect, visit.browserSecret))
  }

  return async request => {
    const visit = await findVisit(request)
    if (visit === 'unknown') return expiredPage(issuer)
    if (visit === 'foreign') return foreignPage(issuer)
    if (request.method !== 'POST') return show(visit)
    const form = parseParameters(request)
    if (!form) return unreadablePage(issuer)
    if (!isSame(form.get('csrf') ?? '', visit.record.csrf)) return foreignPage(issuer)
    if (form.faults.size > 0) return unreadablePage(issuer)
    return submit(visit, form, request.address)
  }
}

type Door = (request: OAuthRequest) => Promise<Visit | 'unknown' | 'foreign'>

/** Finds the interaction of a path and checks that this browser began it. */
const createDoor = ({ options, store, keys, clients }: OAuthDeps): Door => {
  const cookie = createInteractionCookie(options.issuer)
  return async request => {
    const id = /^\/interaction\/([A-Za-z0-9_-]{22})$/.exec(request.path)?.[1]
    const record = id === undefined ? undefined : (await store.interactions.find(id))?.record
    if (id === undefined || !record) return 'unknown'
    const browserSecret = cookie.parse(request.cookie).find(value => isSame(keys.digest(value), record.browserDigest))
    if (browserSecret === undefined) return 'foreign'
    const client = clients.find(record.client_id)
    // The configuration may have been reloaded since: what it took away is not redirected to.
    if (!client || !isRegisteredRedirect(client, record.redirect_uri)) return 'unknown'
    return { id, browserSecret, client, record }
  }
}

const isSame = (presented: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(presented), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b) // both lengths are public
}
