import type { OAuthReply } from '../wire.ts'
import { messagePage } from './message-page.ts'

/** A request that was refused on its way to or from the authorization server, as the gateway says it. */
export interface Refusal {
  readonly status: number
  /** A sentence fit for a stranger, for whoever builds the client. */
  readonly description: string
  /** What the operator finds the request by in the log. */
  readonly requestId: string
}

/** The refusal as the page that a person sees where a program would get JSON; `Retry-After` and the like are added by the gateway. */
export const refusalPage = (issuer: string, { status, description, requestId }: Refusal): OAuthReply =>
  messagePage(issuer, {
    status,
    ...(words[status] ?? unanswerable),
    hint: `${description} The id of this request is ${requestId}.`,
  })

interface Words {
  readonly title: string
  readonly text: string
}

const unanswerable: Words = {
  title: 'This request cannot be answered',
  text: 'It did not arrive as a browser sends it. Go back to the application and start again.',
}

/** By status; every other refusal is of the request as it was sent. */
const words: Readonly<Partial<Record<number, Words>>> = {
  408: { title: 'This took too long', text: 'The request did not arrive in time. Reload this page to try again.' },
  429: { title: 'Too many requests', text: 'Wait a moment, then reload this page.' },
  500: {
    title: 'Something went wrong here',
    text: 'Go back to the application and start again. If that does not help, tell the people who run this server.',
  },
  503: { title: 'Signing in is not possible right now', text: 'Wait a moment, then reload this page.' },
}
