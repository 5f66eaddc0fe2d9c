import { ownMember } from '../../own-member.ts'
import type { ScopeTexts } from '../options.ts'
import type { Texts } from './locales/texts.ts'

/** What a scope means, as a page says it. */
export interface ScopeText {
  readonly text: string
  /** Its language, where that is known and not the page's. */
  readonly lang?: string
}

/**
 * The operator's text in the language of the page, else in English, else the first there is; without one, what the pages
 * know themselves.
 * @returns undefined for a scope that has to speak for itself
 */
export const findScopeText = (scope: string, declared: ScopeTexts, page: Texts): ScopeText | undefined => {
  const texts = declared.get(scope)
  if (texts === undefined) return findOwnText(scope, page)
  const [lang = undetermined] = [page.lang, 'en', ...Object.keys(texts)].filter(each => Object.hasOwn(texts, each))
  const text = ownMember(texts, lang) ?? ''
  return lang === page.lang || lang === undetermined ? { text } : { text, lang }
}

/** RFC 5646 section 4.1. */
const undetermined = 'und'

const findOwnText = (scope: string, { consent: { scopes } }: Texts): ScopeText | undefined => {
  const text = ownMember(scopes, scope)
  return text === undefined ? undefined : { text }
}
