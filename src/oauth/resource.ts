import { OAuthError } from '../errors.ts'

/**
 * What an access token is good for (RFC 8707 section 2): the resources that this request names, else those that were
 * agreed to, else the issuer, which stands for all that Sidegate guards.
 * @throws OAuthError invalid_target where a resource is no absolute URI, or not among those agreed to
 */
export const toAudience = (
  requested: readonly string[],
  agreed: readonly string[],
  issuer: string,
): string | readonly string[] => {
  if (!requested.every(isResource)) throw invalidTarget('A resource must be an absolute URI without a fragment')
  if (agreed.length > 0 && !requested.every(resource => agreed.includes(resource))) {
    throw invalidTarget('A resource was not agreed to')
  }
  const resources = requested.length > 0 ? requested : agreed
  return resources.length > 1 ? resources : (resources[0] ?? issuer)
}

/** Whether a text can name a resource: an absolute URI without a fragment. */
export const isResource = (text: string): boolean => uriWithoutFragment.test(text) && URL.canParse(text)

/** The characters of RFC 3986 less `#`. A URL parser alone would drop line breaks and let them into the token. */
const uriWithoutFragment = /^[a-z][a-z0-9+.-]*:[\w.~:/?[\]@!$&'()*+,;=%-]+$/i

const invalidTarget = (description: string): OAuthError => new OAuthError('invalid_target', description)
