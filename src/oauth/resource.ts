import { OAuthError } from '../errors.ts'
import type { OAuthOptions } from './options.ts'

/** What tokens may be for: the issuer, which stands for all that Sidegate guards, and each resource by itself. */
export type Guarded = Pick<OAuthOptions, 'issuer' | 'resources'>

/**
 * What an access token is good for (RFC 8707 section 2): the resources that this request names, else those that were
 * agreed to, else the issuer.
 * @throws OAuthError invalid_target where a resource is unknown, too many are named, or one is not among those agreed to
 */
export const toAudience = (
  requested: readonly string[],
  agreed: readonly string[],
  guarded: Guarded,
): string | readonly string[] => {
  if (!areResources(requested, guarded)) throw invalidTarget(resourceRule)
  if (agreed.length > 0 && !requested.every(resource => agreed.includes(resource))) {
    throw invalidTarget('A resource was not agreed to')
  }
  const resources = requested.length > 0 ? [...new Set(requested)] : agreed
  return resources.length > 1 ? resources : (resources[0] ?? guarded.issuer)
}

/** What `areResources` asks for, as a client is told. */
export const resourceRule = 'A resource is unknown here, or too many were named'

/** They stand in the token and are kept with a grant, so one request cannot be let to repeat them without end. */
const mostResources = 16

/** Whether each text names a resource that is guarded here, byte for byte, and there are not too many. */
export const areResources = (texts: readonly string[], { issuer, resources }: Guarded): boolean =>
  texts.length <= mostResources &&
  texts.every(text => text === issuer || resources.some(({ resource }) => resource === text))

const invalidTarget = (description: string): OAuthError => new OAuthError('invalid_target', description)
