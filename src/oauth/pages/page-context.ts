import type { OAuthRequest } from '../protocol.ts'
import { chooseTexts } from './locales/choose-locale.ts'
import type { Texts } from './locales/texts.ts'

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
