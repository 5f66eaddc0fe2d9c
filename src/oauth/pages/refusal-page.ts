import type { OAuthReply } from '../protocol.ts'
import type { MessageName } from './locales/texts.ts'
import { messagePage } from './message-page.ts'
import type { PageContext } from './page.ts'

/** An error response of the gateway to a request for a page of the authorization server. */
export interface Refusal {
  readonly status: number
  /** A sentence for the developers of the client, without anything secret. */
  readonly description: string
  /** The id by which the operator finds the request in the log. */
  readonly requestId: string
  /** The `Accept-Language` of the refused request. */
  readonly acceptLanguage: string | undefined
}

/** The error as a page, for a browser. A program would get JSON. The gateway adds headers such as `Retry-After`. */
export const refusalPage = (pageContext: PageContext, { status, description, requestId }: Refusal): OAuthReply =>
  messagePage(pageContext, {
    status,
    name: names[status] ?? 'refused',
    hint: `${description} The id of this request is ${requestId}.`,
  })

/** By status. Any other status means that the request itself was invalid. */
const names: Readonly<Partial<Record<number, MessageName>>> = {
  408: 'refusedSlow',
  429: 'refusedTooMany',
  500: 'refusedBroken',
  503: 'refusedUnavailable',
}
