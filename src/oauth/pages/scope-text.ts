import { ownMember } from '../../own-member.ts'
import type { ScopeTexts } from '../options.ts'
import type { Texts } from './locales/texts.ts'

/** The description of a scope on a page. */
export interface ScopeText {
  readonly text: string
  /** The language of the text, if it is known and differs from that of the page. */
  readonly lang?: string
}

/**
 * The operator's text in the language of the page, else in English, else the first one. If the operator has configured
 * none, the text of the page's own locale.
 * @returns undefined for a scope without a description
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
