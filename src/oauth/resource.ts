import { OAuthError } from '../errors.ts'

/**
 * What an access token is good for (RFC 8707 section 2): the resources that this request names, else those that were
 * agreed to, else the issuer, which stands for all that Sidegate guards.
 * @throws OAuthError invalid_target where a resource is no absolute URI or too long, there are too many, or one is not among those agreed to
 */
export const toAudience = (
  requested: readonly string[],
  agreed: readonly string[],
  issuer: string,
): string | readonly string[] => {
  if (!areResources(requested)) throw invalidTarget(resourceRule)
  if (agreed.length > 0 && !requested.every(resource => agreed.includes(resource))) {
    throw invalidTarget('A resource was not agreed to')
  }
  const resources = requested.length > 0 ? requested : agreed
  return resources.length > 1 ? resources : (resources[0] ?? issuer)
}

/** What `areResources` asks for, as a client is told. */
export const resourceRule = 'A resource must be an absolute URI without a fragment; a few short ones can be named'

/** They stand in the token and are kept with a grant, so one request cannot be let to fill either. */
const mostResources = 16
const longestResource = 512

/** Whether each text can name a resource, an absolute URI without a fragment, and there are not too many. */
export const areResources = (texts: readonly string[]): boolean =>
  texts.length <= mostResources && texts.every(isResource)

const isResource = (text: string): boolean =>
  text.length <= longestResource && uriWithoutFragment.test(text) && URL.canParse(text)

/** The characters of RFC 3986 less `#`. A URL parser alone would drop line breaks and let them into the token. */
const uriWithoutFragment = /^[a-z][a-z0-9+.-]*:[\w.~:/?[\]@!$&'()*+,;=%-]+$/i

const invalidTarget = (description: string): OAuthError => new OAuthError('invalid_target', description)
