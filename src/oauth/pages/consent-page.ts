import type { OAuthReply } from '../wire.ts'
import { type Html, html } from './html.ts'
import { toPageReply } from './page.ts'
import type { PageSetting } from './setting.ts'
import { initialOf } from './sign-in-page.ts'
import type { ConsentTexts } from './texts/texts.ts'

/** The question whether a client may have what it asks for. */
export interface ConsentPage {
  /** 400 when the form came back without an answer that can be understood. */
  readonly status: 200 | 400
  readonly setting: PageSetting
  readonly interactionId: string
  readonly csrf: string
  readonly clientName: string
  readonly redirect_uri: string
  readonly username: string
  readonly scopes: readonly string[]
}

export const consentPage = (page: ConsentPage): OAuthReply => {
  const texts = page.setting.texts.consent
  return toPageReply({
    status: page.status,
    title: texts.heading(page.clientName),
    setting: page.setting,
    formEndsAt: page.redirect_uri,
    content: html`<div class="mark" aria-hidden="true">${initialOf(page.clientName)}</div>
<h1>${texts.heading(page.clientName)}</h1>
<p>${texts.signedInAs(html`<strong>${page.username}</strong>`)}</p>
<h2 id="asks">${texts.asksFor(page.clientName)}</h2>
${page.scopes.length === 0 ? html`<p>${texts.nothing}</p>` : scopeList(page.scopes, texts)}
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
const scopeList = (scopes: readonly string[], texts: ConsentTexts): Html =>
  html`<ul class="scopes" role="list" aria-labelledby="asks">
${scopes.map(scope => html`<li><code>${scope}</code>${meaningOf(scope, texts)}</li>\n`)}</ul>`

const meaningOf = (scope: string, { scopes }: ConsentTexts): Html | undefined =>
  Object.hasOwn(scopes, scope) ? html`<span>${scopes[scope]}</span>` : undefined

/** What a person can recognise of a redirect URI: its host, or the app's own scheme. */
const destinationOf = (redirect_uri: string, texts: ConsentTexts): string => {
  const { host, protocol } = new URL(redirect_uri)
  return /^https?:$/.test(protocol) ? host : texts.app(protocol.slice(0, -1))
}
