import type { OAuthReply } from '../protocol.ts'
import { messagePage } from './message-page.ts'
import type { PageContext } from './page.ts'

/** The pages on which an interaction cannot continue. Each tells the user what to do instead. */

export const expiredPage = (pageContext: PageContext): OAuthReply =>
  messagePage(pageContext, { status: 400, name: 'expired', facts: { error: 'invalid_request' } })

export const foreignPage = (pageContext: PageContext): OAuthReply =>
  messagePage(pageContext, { status: 403, name: 'foreign', facts: { error: 'access_denied' } })

export const unreadablePage = (pageContext: PageContext): OAuthReply =>
  messagePage(pageContext, { status: 400, name: 'unreadable', facts: { error: 'invalid_request' } })

/** Shown if the browser returns after the end. Another redirect would replay the code (RFC 6749 section 10.5). */
export const finishedPage = (pageContext: PageContext): OAuthReply =>
  messagePage(pageContext, { status: 200, name: 'finished' })

/** The same pushed request was opened in two windows, and the other one was faster. */
export const answeredElsewherePage = (pageContext: PageContext): OAuthReply =>
  messagePage(pageContext, { status: 400, name: 'answeredElsewhere', facts: { error: 'invalid_request_uri' } })

export const busyPage = (pageContext: PageContext): OAuthReply =>
  messagePage(pageContext, {
    status: 503,
    name: 'busy',
    headers: { 'retry-after': '1' },
    facts: { error: 'temporarily_unavailable' },
  })
