import type { OAuthReply } from '../wire.ts'
import { type Html, html } from './html.ts'
import { toPageReply } from './page.ts'
import { initialOf } from './sign-in-page.ts'

/** The question whether a client may have what it asks for. */
export interface ConsentPage {
  /** 400 when the form came back without an answer that can be understood. */
  readonly status: 200 | 400
  readonly issuer: string
  readonly interactionId: string
  readonly csrf: string
  readonly clientName: string
  readonly redirect_uri: string
  readonly username: string
  readonly scopes: readonly string[]
}

export const consentPage = (page: ConsentPage): OAuthReply =>
  toPageReply({
    status: page.status,
    title: `Allow ${page.clientName}?`,
    issuer: page.issuer,
    formEndsAt: page.redirect_uri,
    content: html`<div class="mark" aria-hidden="true">${initialOf(page.clientName)}</div>
<h1>Allow ${page.clientName}?</h1>
<p>You are signed in as <strong>${page.username}</strong>.</p>
<h2 id="asks">${page.clientName} asks for</h2>
${page.scopes.length === 0 ? html`<p>nothing but to know that it is you.</p>` : scopeList(page.scopes)}
<form method="post" action="/interaction/${page.interactionId}">
<input type="hidden" name="csrf" value="${page.csrf}">
<div class="actions">
<button class="primary" id="allow" type="submit" name="decision" value="allow">Allow</button>
<button id="deny" type="submit" name="decision" value="deny">Deny</button>
</div>
</form>
<p class="fine">Either way you go back to <strong>${destinationOf(page.redirect_uri)}</strong>.</p>`,
  })

const scopeList = (scopes: readonly string[]): Html => html`<ul class="scopes" aria-labelledby="asks">
${scopes.map(scope => html`<li><code>${scope}</code>${meaningOf(scope)}</li>\n`)}</ul>`

const meaningOf = (scope: string): Html | undefined =>
  scope === 'offline_access' ? html`<span>Keep this access while you are away</span>` : undefined

/** What a person can recognise of a redirect URI: its host, or the app's own scheme. */
const destinationOf = (redirect_uri: string): string => {
  const { host, protocol } = new URL(redirect_uri)
  return /^https?:$/.test(protocol) ? host : `the app ${protocol.slice(0, -1)}`
}
