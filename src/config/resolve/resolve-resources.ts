import type { ProtectedResource } from '../../oauth/options.ts'
import type { GroupedOperation, ParsedConfig, ParsedGrouping } from '../parse/parsed-config.ts'
import { basePathFault } from '../values/path-pattern.ts'
import { toOperationView } from './effective-operation.ts'

/**
 * The value of a token's `aud` for a grouping (RFC 8707).
 * @param origin of the issuer, as everywhere here
 */
export const resourceOf = ({ resource, basePath }: ParsedGrouping, origin: string): string =>
  resource ?? origin + basePath

/**
 * The resources that a token can be requested for: every forwarding grouping, and the resources that clients
 * introspect. Each once.
 */
export const toResources = (parsed: ParsedConfig, origin: string): readonly ProtectedResource[] => {
  const guarded = [...Map.groupBy(forwardedOf(parsed), ({ grouping }) => resourceOf(grouping.value, origin))]
  const introspected = parsed.clients.flatMap(({ value }) =>
    Array.isArray(value.introspects) ? value.introspects : [],
  )
  const others = new Set(introspected.filter(resource => !guarded.some(([own]) => own === resource)))
  return [
    ...guarded.map(([resource, operations]) => toGuarded(resource, operations, origin)),
    ...[...others].map(resource => ({ resource, scopes: [], name: resource })),
  ]
}

const forwardedOf = (parsed: ParsedConfig): readonly GroupedOperation[] =>
  parsed.operations.filter(operation => toOperationView(operation).serves === undefined)

/** Groupings may share a resource: then it has the scopes of all of them and the name of the first. */
const toGuarded = (resource: string, operations: readonly GroupedOperation[], origin: string): ProtectedResource => {
  const metadataPath = findMetadataPath(resource, origin)
  return {
    resource,
    scopes: [...new Set(operations.flatMap(({ value }) => value.scopes))],
    name: operations[0]?.grouping.value.name ?? resource,
    ...(metadataPath !== undefined && { metadataPath }),
  }
}

/**
 * The well-known part is between host and path (RFC 9728 section 3.1). Undefined if the resource is not on our origin.
 */
export const findMetadataPath = (resource: string, origin: string): string | undefined => {
  const { origin: host, pathname, search } = new URL(resource)
  const path = pathname === '/' ? '' : pathname
  const isServable = host === origin && search === '' && (path === '' || !basePathFault(path))
  return isServable ? `/.well-known/oauth-protected-resource${path}` : undefined
}
