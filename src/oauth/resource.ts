import { OAuthError } from '../errors.ts'
import type { OAuthOptions } from './options.ts'

/** What tokens may be for: the issuer, which stands for all that Sidegate guards, and each resource by itself. */
export type Guarded = Pick<OAuthOptions, 'issuer' | 'resources'>

/** @throws OAuthError invalid_target where a resource is unknown, or too many are named */
export const requireResources = (requested: readonly string[], guarded: Guarded): void => {
  if (!areResources(requested, guarded)) throw invalidTarget(resourceRule)
}

/** RFC 8707 section 2.2: what was not agreed to cannot be had with a code or a refresh token. */
export const notAgreed = (): OAuthError => invalidTarget('A resource was not agreed to')

/** What `areResources` asks for, as a client is told. */
export const resourceRule = 'A resource is unknown here, or too many were named'

/** They stand in the token and are kept with a grant, so one request cannot be let to repeat them without end. */
const maxResources = 16

/** Whether each text names a resource that is guarded here, byte for byte, and there are not too many. */
export const areResources = (texts: readonly string[], { issuer, resources }: Guarded): boolean =>
  texts.length <= maxResources &&
  texts.every(text => text === issuer || resources.some(({ resource }) => resource === text))

const invalidTarget = (description: string): OAuthError => new OAuthError('invalid_target', description)
