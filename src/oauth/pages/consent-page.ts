import type { ScopeTexts } from '../options.ts'
import type { OAuthReply } from '../protocol.ts'
import { type Html, html } from './html.ts'
import type { ConsentTexts, Texts } from './locales/texts.ts'
import { type PageContext, toPageReply } from './page.ts'
import { findScopeText } from './scope-text.ts'
import { initialOf } from './sign-in-page.ts'

/** The consent page: the user allows or denies what the client asks for. */
export interface ConsentPage {
  /** 400 if the submitted form had no valid decision. */
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

/** Some screen readers do not announce a list without bullets as a list, unless it has a role. */
const scopeList = ({ scopes, scopeTexts, pageContext }: ConsentPage): Html =>
  html`<ul class="scopes" role="list" aria-labelledby="asks">
${scopes.map(scope => html`<li>${descriptionOf(scope, scopeTexts, pageContext.texts)}<code>${scope}</code></li>\n`)}</ul>`

/** The description of a scope, shown before its name. The name is for users that want the exact value. */
const descriptionOf = (scope: string, declared: ScopeTexts, texts: Texts): Html | undefined => {
  const meaning = findScopeText(scope, declared, texts)
  return meaning && html`<span${meaning.lang && html` lang="${meaning.lang}"`}>${meaning.text}</span>`
}

/** The part of a redirect URI that a user can recognise: its host, or its private-use scheme. */
const destinationOf = (redirect_uri: string, texts: ConsentTexts): string => {
  const { host, protocol } = new URL(redirect_uri)
  return /^https?:$/.test(protocol) ? host : texts.app(protocol.slice(0, -1))
}
