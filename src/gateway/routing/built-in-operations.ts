import type { LoginOptions, OAuthOptions } from '../../oauth/options.ts'
import type { Operation } from '../operation.ts'

/**
 * The configured operations and the ones that are added to them: the login pages, the discovery document at the path of
 * an issuer with a path, and the metadata of every resource. A configured operation at the same path takes precedence.
 */
export const publishOperations = (
  configured: readonly Operation[],
  { issuer, resources, login }: Pick<OAuthOptions, 'issuer' | 'resources' | 'login'>,
): readonly Operation[] => {
  const { pathname } = new URL(issuer)
  const operations = pathname === '/' ? configured : configured.map(operation => withIssuerPath(operation, pathname))
  return [...operations, ...interactionPages(configured, login), ...resourceDocuments(operations, resources)]
}

/** RFC 8414 section 3.1: if the issuer has a path, the well-known part stands between host and path. */
const withIssuerPath = (operation: Operation, pathname: string): Operation => {
  const wellKnown = '/.well-known/oauth-authorization-server'
  if (operation.target.kind !== 'serve' || operation.target.serves !== 'discovery' || operation.path !== wellKnown) {
    return operation
  }
  return { ...operation, aliases: [...operation.aliases, `${wellKnown}${pathname}`] }
}

/** The login pages belong to the grouping of the authorization endpoint. */
const interactionPages = (configured: readonly Operation[], login: LoginOptions): readonly Operation[] => {
  const authorize = configured.find(({ target }) => target.kind === 'serve' && target.serves === 'authorize')
  if (!authorize) return []
  return placesOf(login).map(([method, path]) => ({
    ...authorize,
    ...unguarded,
    method,
    path,
    target: { kind: 'serve', serves: 'interaction', advertise: false },
  }))
}

/** Our own pages have forms. The operator's login application sends the browser back by a link. */
const placesOf = ({ mode }: LoginOptions): readonly (readonly [method: string, path: string])[] => {
  const page = '/interaction/*'
  return mode === 'embedded'
    ? ['GET', 'POST'].map(method => [method, page])
    : [page, `${page}/resume`].map(path => ['GET', path])
}

/** RFC 9728 section 3: the metadata of every resource that we describe, in the grouping that protects it. */
const resourceDocuments = (
  operations: readonly Operation[],
  resources: OAuthOptions['resources'],
): readonly Operation[] =>
  resources.flatMap(({ resource, metadataPath: path }) => {
    const guarded = operations.find(({ target }) => 'resource' in target && target.resource === resource)
    if (!guarded || path === undefined || operations.some(operation => isAt(operation, path))) return []
    const { grouping, version } = guarded
    const target = { kind: 'serve', serves: 'resource-metadata', advertise: false } as const
    return [{ grouping, version, ...unguarded, method: 'GET', path, target }]
  })

const isAt = ({ method, path, aliases }: Operation, place: string): boolean =>
  method === 'GET' && (path === place || aliases.includes(place))

const unguarded = { aliases: [], credentials: 'none', scopes: [], plan: 'none' } as const
