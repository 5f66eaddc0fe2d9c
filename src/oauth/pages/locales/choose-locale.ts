import { parseAccept } from '../../../accept.ts'
import { german } from './de.ts'
import { english } from './en.ts'
import type { Texts } from './texts.ts'

/** All languages. */
const languages: readonly Texts[] = [english, german]

const byTag: ReadonlyMap<string, Texts> = new Map(languages.map(texts => [texts.lang, texts]))

/**
 * The language of a page: the first supported one that the client asked for (`ui_locales`, OpenID Connect Core
 * section 3.1.2.1), else that the browser prefers (`Accept-Language`, RFC 9110 section 12.5.4), else English. The
 * region of a tag is ignored, as by the lookup of RFC 4647 section 3.4.
 */
export const chooseTexts = (uiLocales: string | undefined, acceptLanguage: string | undefined): Texts => {
  for (const tag of [...(uiLocales ?? '').split(' '), ...preferredTags(acceptLanguage)]) {
    const texts = byTag.get(tag.split('-', 1)[0]?.toLowerCase() ?? '')
    if (texts) return texts
  }
  return english
}

/** More languages than any user reads. The header may be as long as all headers together, so the list is cut. */
const maxTags = 20

/** The tags of an `Accept-Language`, the preferred first. A tag with a weight of 0 is not acceptable. */
const preferredTags = (field = ''): readonly string[] =>
  parseAccept(field, maxTags)
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ value }) => value)
