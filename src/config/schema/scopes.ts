import { z } from 'zod'
import { scopeToken } from '../values/names.ts'
import { line, textLike } from '../values/zod-scalars.ts'

/** Descriptions of scopes for users. */

/** ISO 639, as the first part of an RFC 5646 tag: the pages choose by this part only. */
const language = () => textLike(/^[a-z]{2,3}$/, 'a language is two or three small letters, such as en or de')

/** Its language is undetermined (RFC 5646 section 4.1). */
const textAlone = () => line().transform((text): Readonly<Record<string, string>> => ({ und: text }))

const textsByLanguage = () =>
  z.record(language(), line()).refine(texts => Object.keys(texts).length > 0, { error: 'it has no text' })

const scopeText = () =>
  z.union([textAlone(), textsByLanguage()], {
    error:
      'must be a text of one line, at most 200 characters, in which each bidirectional control character is closed, or such texts by language, such as { en: …, de: … }',
  })

export const scopesSchema = z
  .record(scopeToken(), scopeText())
  .default({})
  .describe('Descriptions of scopes for users, by scope: a text, or texts by language, such as { en: …, de: … }.')
