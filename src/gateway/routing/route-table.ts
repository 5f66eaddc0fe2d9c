import { methods, type Operation } from '../operation.ts'

/** The result of the lookup of a method and a path. */
export type RouteMatch<O extends Operation> =
  | { readonly kind: 'operation'; readonly operation: O }
  /** The operation serves forward auth. */
  | { readonly kind: 'check'; readonly operation: O }
  /** The path is published, but not for this method. `operation` is one of its operations, `allow` all its methods. */
  | { readonly kind: 'method_not_allowed'; readonly operation: O; readonly allow: readonly string[] }
  | { readonly kind: 'not_found' }

export interface Routes<O extends Operation> {
  match(method: string, path: string): RouteMatch<O>
  /** The same for the original request of forward auth: only operations that are `elsewhere` match. */
  matchElsewhere(method: string, path: string): RouteMatch<O>
}

interface Route<O extends Operation> {
  readonly segments: readonly string[]
  /** A literal prefix and then `**`: all paths with the prefix match. */
  readonly coversAll: boolean
  readonly method: string
  readonly operation: O
  /** The match for a request that is sent here. */
  readonly match: RouteMatch<O>
  /** The match for the original request of forward auth. */
  readonly matchElsewhere: RouteMatch<O>
}

/**
 * Finds operations by method and path: the longest literal prefix wins. The lookup takes one step for each segment of
 * the path, however many operations there are. A GET operation answers HEAD too (RFC 9110 section 9.3.2) unless HEAD is
 * published, or GET begins an interaction.
 */
export const createRoutes = <O extends Operation>(operations: readonly O[]): Routes<O> => {
  const literal = new Map<string, Route<O>[]>()
  const byPrefix = new Map<string, Route<O>[]>()
  for (const operation of operations) {
    for (const path of [operation.path, ...operation.aliases]) {
      const prefix = path.includes('*') ? literalPrefix(path) : undefined
      for (const route of toRoutes(operation, path, prefix)) {
        if (prefix === undefined) push(literal, path, route)
        else push(byPrefix, prefix, route)
      }
    }
  }

  /** Calls `accept` for every route of the path, the longest literal prefix first, until it returns true. */
  const findRoute = (path: string, accept: (route: Route<O>) => boolean): Route<O> | undefined => {
    const exact = literal.get(path)?.find(accept)
    if (exact || byPrefix.size === 0) return exact
    const found = findByPrefix(path, accept)
    if (found === undefined || path === '/' || !path.endsWith('/')) return found
    // Many servers treat `/admin/` as `/admin`, so a wildcard must not bypass the requirements of that operation.
    const plain = path.slice(0, -1)
    return literal.get(plain)?.find(accept) ?? findByPrefix(plain, accept) ?? found
  }
  const findByPrefix = (path: string, accept: (route: Route<O>) => boolean): Route<O> | undefined => {
    // Starts below the path itself: `/accounts/**` includes `/accounts`, because `**` may be empty.
    for (let prefix = path.endsWith('/') ? path : `${path}/`; ; prefix = parentOf(prefix)) {
      const found = byPrefix
        .get(prefix)
        ?.find(route => (route.coversAll || covers(route.segments, path)) && accept(route))
      if (found || prefix === '/') return found
    }
  }
  const findOperation = (method: string, path: string): Route<O> | undefined =>
    findRoute(path, route => route.method === method)

  const findForHead = (path: string): Route<O> | undefined => {
    const route = findOperation('GET', path)
    return route && answersHead(route.operation) ? route : undefined
  }
  const find = (method: string, path: string): Route<O> | undefined =>
    findOperation(method, path) ?? (method === 'HEAD' ? findForHead(path) : undefined)

  const findOthers = (path: string, side: 'match' | 'matchElsewhere'): RouteMatch<O> => {
    const published: Route<O>[] = []
    findRoute(path, route => {
      // A shorter prefix may have a method whose operation at the longest prefix belongs to the other side.
      if (find(route.method, path)?.[side] !== notFound) published.push(route)
      return false
    })
    const [route] = published
    if (route === undefined) return notFound
    return { kind: 'method_not_allowed', operation: route.operation, allow: allowOf(published) }
  }

  return {
    match: (method, path) => find(method, path)?.match ?? findOthers(path, 'match'),
    matchElsewhere: (method, path) => find(method, path)?.matchElsewhere ?? findOthers(path, 'matchElsewhere'),
  }
}

/** One route for each method. */
const toRoutes = <O extends Operation>(operation: O, path: string, prefix: string | undefined): readonly Route<O>[] => {
  const { kind } = operation.target
  const found = { kind: kind === 'check' ? 'check' : 'operation', operation } as const
  const route = {
    segments: path.split('/'),
    coversAll: prefix === undefined || path === `${prefix}**`,
    operation,
    match: kind === 'elsewhere' ? notFound : found,
    matchElsewhere: kind === 'elsewhere' ? found : notFound,
  }
  return (operation.method === '*' ? methods : [operation.method]).map(method => ({ ...route, method }))
}

const notFound = { kind: 'not_found' } as const

/** `/a/` for `/a/b/`. */
const parentOf = (prefix: string): string => prefix.slice(0, prefix.lastIndexOf('/', prefix.length - 2) + 1)

const allowOf = (published: readonly Route<Operation>[]): readonly string[] => {
  const allowed = new Set(published.map(({ method }) => method))
  const get = published.find(({ method }) => method === 'GET')
  if (get && answersHead(get.operation)) allowed.add('HEAD')
  return [...allowed]
}

/** HEAD must have no effect (RFC 9110 section 9.2.1), and every authorization request begins an interaction. */
const answersHead = ({ target }: Operation): boolean => target.kind !== 'serve' || target.serves !== 'authorize'

/** `/a/` for `/a/*` and `/a/b*`: wildcards are whole segments, so the prefix ends at a slash. */
const literalPrefix = (path: string): string => path.slice(0, path.lastIndexOf('/', path.indexOf('*')) + 1)

const covers = (pattern: readonly string[], path: string): boolean => {
  const segments = path.split('/')
  for (let i = 0; i < pattern.length; i++) {
    const part = pattern[i]
    if (part === '**') return true
    const segment = segments[i]
    if (segment === undefined || (part === '*' ? segment === '' : part !== segment)) return false
  }
  return pattern.length === segments.length
}

const push = <K, V>(map: Map<K, V[]>, key: K, value: V): void => {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
