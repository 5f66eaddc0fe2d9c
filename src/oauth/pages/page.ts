import type { OAuthFacts, OAuthReply, OAuthRequest } from '../protocol.ts'
import { type Html, html } from './html.ts'
import { chooseTexts } from './locales/choose-locale.ts'
import type { Texts } from './locales/texts.ts'
import { styleElement, styleSource } from './style.ts'

/** The issuer that a page belongs to, and its texts in the chosen language. */
export interface PageContext {
  readonly issuer: string
  readonly texts: Texts
}

/** @param uiLocales the languages that the client asked for, if known */
export const pageContextOf = (
  issuer: string,
  request: Pick<OAuthRequest, 'acceptLanguage'>,
  uiLocales?: string,
): PageContext => ({
  issuer,
  // Chosen on first use, because most requests that could end with a page do not.
  get texts() {
    return chooseTexts(uiLocales, request.acceptLanguage)
  },
})

/** One page of sign-in, consent or an error. */
export interface Page {
  readonly status: number
  /** Title of the window, without the host of the issuer. */
  readonly title: string
  /** The content of the card. */
  readonly content: Html
  readonly pageContext: PageContext
  /** The redirect URI that the response to the form may redirect to. Left out: the page has no form. */
  readonly formRedirectUri?: string
  readonly headers?: OAuthReply['headers']
  readonly facts?: OAuthFacts
}

/** The page as a response, with the headers that every page has (RFC 9700 sections 4.2.4 and 4.16). */
export const toPageReply = (page: Page): OAuthReply => ({
  status: page.status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy(page.formRedirectUri),
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...page.headers,
  },
  body: documentOf(page).toString(),
  ...(page.facts ? { facts: page.facts } : {}),
})

const contentSecurityPolicy = (formRedirectUri: string | undefined): string =>
  [
    "default-src 'none'",
    `style-src ${styleSource}`,
    `form-action ${formRedirectUri === undefined ? "'none'" : `'self' ${formTarget(formRedirectUri)}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

/** Chromium applies `form-action` to the redirect after a form too, so the policy must name the client's origin. */
const formTarget = (redirect_uri: string): string => {
  const { protocol, host } = new URL(redirect_uri)
  // A policy can name neither an IPv6 address nor the host of a private-use scheme. For these it names the scheme.
  const isNameable = /^https?:$/.test(protocol) && /^[\w.:-]+$/.test(host)
  return isNameable ? `${protocol}//${host}` : protocol
}

const documentOf = (page: Page): Html => html`<!doctype html>
<html lang="${page.pageContext.texts.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title} · ${hostOf(page.pageContext)}</title>
${styleElement}
</head>
<body>
<main>
${page.content}
</main>
<footer>${hostOf(page.pageContext)}</footer>
</body>
</html>
`

/** The host that the user can compare with the address bar. */
const hostOf = ({ issuer }: PageContext): string => new URL(issuer).host
