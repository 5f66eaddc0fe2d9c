import type { OAuthReply } from '../protocol.ts'
import { type Html, html } from './html.ts'
import type { SignInTexts, Texts } from './locales/texts.ts'
import { type PageContext, toPageReply } from './page.ts'

/** The form for username and password. */
export interface SignInPage {
  readonly pageContext: PageContext
  readonly interactionId: string
  readonly csrf: string
  readonly clientName: string
  readonly redirect_uri: string
  /** Set after a failed attempt. */
  readonly failure?: SignInFailure
}

export interface SignInFailure {
  readonly status: 400 | 429
  readonly text: string
  /** Shown in its field again. The password is never shown again. */
  readonly username: string
  readonly headers?: OAuthReply['headers']
}

export const signInPage = (page: SignInPage): OAuthReply => {
  const { failure, pageContext } = page
  const texts = pageContext.texts.signIn
  return toPageReply({
    status: failure?.status ?? 200,
    title: failure ? texts.failedTitle(page.clientName) : texts.title(page.clientName),
    pageContext,
    formRedirectUri: page.redirect_uri,
    ...(failure?.headers ? { headers: failure.headers } : {}),
    content: html`<div class="mark" aria-hidden="true">${initialOf(page.clientName)}</div>
<h1>${texts.heading}</h1>
<p>${texts.lead(html`<strong>${page.clientName}</strong>`)}</p>
${failure && html`<p class="alarm" id="failure" role="alert">${failure.text}</p>`}
<form method="post" action="/interaction/${page.interactionId}">
<input type="hidden" name="csrf" value="${page.csrf}">
${fields(texts, failure)}
<div class="actions">
<button class="primary" id="sign-in" type="submit">${texts.submit}</button>
<button id="deny" type="submit" name="decision" value="deny" formnovalidate>${texts.cancel}</button>
</div>
</form>`,
  })
}

export const wrongPassword = ({ signIn }: Texts, username: string, isLastTry: boolean): SignInFailure => ({
  status: 400,
  username,
  text: isLastTry ? `${signIn.wrong} ${signIn.lastTry}` : signIn.wrong,
})

export const tooManyPasswords = ({ signIn }: Texts, username: string, waitMs: number): SignInFailure => {
  const waitSec = Math.ceil(waitMs / 1000) // RFC 9110 section 10.2.3: whole seconds
  return { status: 429, username, text: signIn.tooMany(waitSec), headers: { 'retry-after': String(waitSec) } }
}

/** The first letter of a name, for its mark. */
export const initialOf = (name: string): string => [...name.trim()][0]?.toUpperCase() ?? '·'

const fields = (texts: SignInTexts, failure: SignInFailure | undefined): Html => {
  // After a failure the username is already filled in, so the password field gets the focus.
  const [first, second] = failure?.username ? ['', ' autofocus'] : [' autofocus', '']
  const flaw = failure ? html` aria-invalid="true" aria-describedby="failure"` : undefined
  return html`<label for="username">${texts.username}</label>
<input id="username" name="username" value="${failure?.username}" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" required${first}${flaw}>
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${second}${flaw}>`
}
