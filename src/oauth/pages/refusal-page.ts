import type { OAuthReply } from '../protocol.ts'
import type { MessageName } from './locales/texts.ts'
import { messagePage } from './message-page.ts'
import type { PageContext } from './page.ts'

/** A request that was refused on its way to or from the authorization server, as the gateway says it. */
export interface Refusal {
  readonly status: number
  /** A sentence fit for a stranger, for whoever builds the client. */
  readonly description: string
  /** What the operator finds the request by in the log. */
  readonly requestId: string
  /** Of the request that is refused. */
  readonly acceptLanguage: string | undefined
}

/** The refusal as the page that a person sees where a program would get JSON; `Retry-After` and the like are added by the gateway. */
export const refusalPage = (pageContext: PageContext, { status, description, requestId }: Refusal): OAuthReply =>
  messagePage(pageContext, {
    status,
    name: names[status] ?? 'refused',
    hint: `${description} The id of this request is ${requestId}.`,
  })

/** By status; every other refusal is of the request as it was sent. */
const names: Readonly<Partial<Record<number, MessageName>>> = {
  408: 'refusedSlow',
  429: 'refusedTooMany',
  500: 'refusedBroken',
  503: 'refusedUnavailable',
}
