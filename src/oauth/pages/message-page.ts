import type { OAuthFacts, OAuthReply } from '../protocol.ts'
import { html } from './html.ts'
import type { MessageName } from './locales/texts.ts'
import { type PageContext, toPageReply } from './page.ts'

/** A page without a form: the interaction has ended or cannot start. */
export interface Message {
  readonly status: number
  readonly name: MessageName
  /** One more sentence in English, for the developers of the client. */
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
