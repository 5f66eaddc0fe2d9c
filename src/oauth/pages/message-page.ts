import type { OAuthFacts, OAuthReply } from '../wire.ts'
import { html } from './html.ts'
import { toPageReply } from './page.ts'

/** A page that only says something: the browser's journey ends here, or cannot begin. */
export interface Message {
  readonly status: number
  readonly title: string
  /** What happened and what to do now, in one or two sentences for the person in front of the browser. */
  readonly text: string
  /** One more sentence for whoever builds the client. */
  readonly hint?: string
  readonly headers?: OAuthReply['headers']
  readonly facts?: OAuthFacts
}

export const messagePage = (issuer: string, message: Message): OAuthReply =>
  toPageReply({
    ...message,
    issuer,
    content: html`<h1>${message.title}</h1>
<p>${message.text}</p>
${message.hint === undefined ? undefined : html`<p class="hint">For its developers: ${message.hint}</p>`}`,
  })
