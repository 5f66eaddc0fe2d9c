import type { OAuthFacts, OAuthReply, OAuthRequest } from '../protocol.ts'
import { type Html, html } from './html.ts'
import { chooseTexts } from './locales/choose-locale.ts'
import type { Texts } from './locales/texts.ts'
import { styleElement, styleSource } from './style.ts'

/** Where a page stands, and the language it speaks. */
export interface PageContext {
  readonly issuer: string
  readonly texts: Texts
}

/** @param uiLocales what the client asked for, where it is known */
export const pageContextOf = (
  issuer: string,
  request: Pick<OAuthRequest, 'acceptLanguage'>,
  uiLocales?: string,
): PageContext => ({
  issuer,
  // Most requests that could end at a page do not.
  get texts() {
    return chooseTexts(uiLocales, request.acceptLanguage)
  },
})

/** One page of the browser's way through sign-in and consent. */
export interface Page {
  readonly status: number
  /** Title of the window, without the issuer. */
  readonly title: string
  /** What stands in the card. */
  readonly content: Html
  readonly pageContext: PageContext
  /** The redirect URI that a form of this page may end at. Left out: the page has no form. */
  readonly formRedirectUri?: string
  readonly headers?: OAuthReply['headers']
  readonly facts?: OAuthFacts
}

/** The page as an answer, with the headers that every page of ours carries (RFC 9700 sections 4.2.4 and 4.16). */
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

/** Chromium holds the redirect that follows a form to `form-action` as well, so the client's place must be in it. */
const formTarget = (redirect_uri: string): string => {
  const { protocol, host } = new URL(redirect_uri)
  // A policy can name neither an IPv6 address nor the host of a private-use scheme: there the scheme has to do.
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

/** What a person compares with the address bar. */
const hostOf = ({ issuer }: PageContext): string => new URL(issuer).host
