import type { OAuthRequest } from '../wire.ts'
import { chooseTexts } from './texts/choose-texts.ts'
import type { Texts } from './texts/texts.ts'

/** Where a page stands, and the language it speaks. */
export interface PageSetting {
  readonly issuer: string
  readonly texts: Texts
}

/** @param uiLocales what the client asked for, where it is known */
export const settingOf = (
  issuer: string,
  request: Pick<OAuthRequest, 'acceptLanguage'>,
  uiLocales?: string,
): PageSetting => ({
  issuer,
  // Most requests that could end at a page do not.
  get texts() {
    return chooseTexts(uiLocales, request.acceptLanguage)
  },
})
