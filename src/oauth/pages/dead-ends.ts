import type { OAuthReply } from '../wire.ts'
import { messagePage } from './message-page.ts'

/** The pages where an interaction goes no further. Each says what to do instead. */

export const expiredPage = (issuer: string): OAuthReply =>
  messagePage(issuer, {
    status: 400,
    title: 'This sign-in has expired',
    text: 'It was not finished in time, or its address is not complete. Go back to the application and start again.',
    facts: { error: 'invalid_request' },
  })

export const foreignPage = (issuer: string): OAuthReply =>
  messagePage(issuer, {
    status: 403,
    title: 'This sign-in belongs to another browser',
    text: 'It can only be finished where it was begun, from its own page and with cookies allowed. Go back to the application and start again.',
    facts: { error: 'access_denied' },
  })

export const unreadablePage = (issuer: string): OAuthReply =>
  messagePage(issuer, {
    status: 400,
    title: 'This form cannot be read',
    text: 'Something between this browser and the server has changed it. Go back to the application and start again.',
    facts: { error: 'invalid_request' },
  })

/** Shown when the browser comes back after the end. Sending it on again would replay the code (RFC 6749 section 10.5). */
export const finishedPage = (issuer: string): OAuthReply =>
  messagePage(issuer, {
    status: 200,
    title: 'This sign-in is finished',
    text: 'You have answered already. Go back to the application; you can close this window.',
  })

/** The same pushed request was opened in two windows, and the other one was faster. */
export const answeredElsewherePage = (issuer: string): OAuthReply =>
  messagePage(issuer, {
    status: 400,
    title: 'This was answered in another window',
    text: 'The application has its answer already. Go back to it; you can close this window.',
    facts: { error: 'invalid_request_uri' },
  })

export const busyPage = (issuer: string): OAuthReply =>
  messagePage(issuer, {
    status: 503,
    title: 'Too many people are signing in',
    text: 'Wait a moment, then go back to the form and send it again.',
    headers: { 'retry-after': '1' },
    facts: { error: 'temporarily_unavailable' },
  })
