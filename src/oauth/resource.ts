import { OAuthError } from '../errors.ts'
import type { OAuthOptions } from './options.ts'

/**
 * The possible audiences of a token: the issuer, which stands for everything that Sidegate protects, and each single
 * resource.
 */
export type Guarded = Pick<OAuthOptions, 'issuer' | 'resources'>

/** @throws OAuthError invalid_target if a resource is unknown, or if there are too many */
export const requireResources = (requested: readonly string[], guarded: Guarded): void => {
  if (!areResources(requested, guarded)) throw invalidTarget(resourceRule)
}

/** RFC 8707 section 2.2: a code or a refresh token gives no access to a resource that was not agreed to. */
export const notAgreed = (): OAuthError => invalidTarget('A resource was not agreed to')

/** The rule of `areResources`, as an error message for clients. */
export const resourceRule = 'A resource is unknown here, or too many were named'

/** The resources are part of the token and of the stored grant, so a request may not name any number of them. */
const maxResources = 16

/** Whether each text is byte-equal to a known resource or to the issuer, and there are not too many. */
export const areResources = (texts: readonly string[], { issuer, resources }: Guarded): boolean =>
  texts.length <= maxResources &&
  texts.every(text => text === issuer || resources.some(({ resource }) => resource === text))

const invalidTarget = (description: string): OAuthError => new OAuthError('invalid_target', description)
