import type { OAuthFacts, OAuthReply } from '../protocol.ts'
import { html } from './html.ts'
import type { MessageName } from './locales/texts.ts'
import { type PageContext, toPageReply } from './page.ts'

/** A page that only says something: the browser's journey ends here, or cannot begin. */
export interface Message {
  readonly status: number
  readonly name: MessageName
  /** One more sentence for whoever builds the client, in English. */
  readonly hint?: string
  readonly headers?: OAuthReply['headers']
  readonly facts?: OAuthFacts
}

export const messagePage = (pageContext: PageContext, { name, hint, ...message }: Message): OAuthReply => {
  const { messages, forDevelopers } = pageContext.texts
  const { title, text } = messages[name]
  const mark = message.status < 400 ? html`<div class="mark" aria-hidden="true">✓</div>` : warningMark
  return toPageReply({
    ...message,
    pageContext,
    title,
    content: html`${mark}
<h1>${title}</h1>
<p>${text}</p>
${hint === undefined ? undefined : html`<p class="hint">${forDevelopers} <span lang="en">${hint}</span></p>`}`,
  })
}

const warningMark = html`<div class="mark warning" aria-hidden="true">!</div>`
