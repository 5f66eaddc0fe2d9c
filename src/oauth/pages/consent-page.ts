import type { ScopeTexts } from '../options.ts'
import type { OAuthReply } from '../protocol.ts'
import { type Html, html } from './html.ts'
import type { ConsentTexts, Texts } from './locales/texts.ts'
import { type PageContext, toPageReply } from './page.ts'
import { findScopeText } from './scope-text.ts'
import { initialOf } from './sign-in-page.ts'

/** The question whether a client may have what it asks for. */
export interface ConsentPage {
  /** 400 when the form came back without an answer that can be understood. */
  readonly status: 200 | 400
  readonly pageContext: PageContext
  readonly interactionId: string
  readonly csrf: string
  readonly clientName: string
  readonly redirect_uri: string
  readonly username: string
  readonly scopes: readonly string[]
  readonly scopeTexts: ScopeTexts
}

export const consentPage = (page: ConsentPage): OAuthReply => {
  const texts = page.pageContext.texts.consent
  return toPageReply({
    status: page.status,
    title: texts.heading(page.clientName),
    pageContext: page.pageContext,
    formRedirectUri: page.redirect_uri,
    content: html`<div class="mark" aria-hidden="true">${initialOf(page.clientName)}</div>
<h1>${texts.heading(page.clientName)}</h1>
<p>${texts.signedInAs(html`<strong>${page.username}</strong>`)}</p>
<h2 id="asks">${texts.asksFor(page.clientName)}</h2>
${page.scopes.length === 0 ? html`<p>${texts.nothing}</p>` : scopeList(page)}
<form method="post" action="/interaction/${page.interactionId}">
<input type="hidden" name="csrf" value="${page.csrf}">
<div class="actions">
<button class="primary" id="allow" type="submit" name="decision" value="allow">${texts.allow}</button>
<button id="deny" type="submit" name="decision" value="deny">${texts.deny}</button>
</div>
</form>
<p class="fine">${texts.back(html`<strong>${destinationOf(page.redirect_uri, texts)}</strong>`)}</p>`,
  })
}

/** Without bullets some screen readers take a list for none, unless it says what it is. */
const scopeList = ({ scopes, scopeTexts, pageContext }: ConsentPage): Html =>
  html`<ul class="scopes" role="list" aria-labelledby="asks">
${scopes.map(scope => html`<li>${meaningOf(scope, scopeTexts, pageContext.texts)}<code>${scope}</code></li>\n`)}</ul>`

/** Stands before the scope's own name, which is for those who want to know exactly. */
const meaningOf = (scope: string, declared: ScopeTexts, texts: Texts): Html | undefined => {
  const meaning = findScopeText(scope, declared, texts)
  return meaning && html`<span${meaning.lang && html` lang="${meaning.lang}"`}>${meaning.text}</span>`
}

/** What a person can recognise of a redirect URI: its host, or the app's own scheme. */
const destinationOf = (redirect_uri: string, texts: ConsentTexts): string => {
  const { host, protocol } = new URL(redirect_uri)
  return /^https?:$/.test(protocol) ? host : texts.app(protocol.slice(0, -1))
}
