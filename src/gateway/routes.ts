import type { Operation } from './operation.ts'

/** What a request's method and path lead to. */
export type RouteMatch<O extends Operation> =
  | { readonly kind: 'operation'; readonly operation: O }
  /** The path is published, not for this method. `operation` is one that is there, `allow` all its methods. */
  | { readonly kind: 'method_not_allowed'; readonly operation: O; readonly allow: readonly string[] }
  | { readonly kind: 'not_found' }

export interface Routes<O extends Operation> {
  match(method: string, path: string): RouteMatch<O>
}

interface Route<O> {
  readonly segments: readonly string[]
  readonly operation: O
}

/**
 * Finds operations by method and path: the longest literal prefix wins. One look-up per segment of the path, however
 * many operations there are. A GET operation answers HEAD too (RFC 9110 section 9.3.2) unless HEAD is published.
 */
export const createRoutes = <O extends Operation>(operations: readonly O[]): Routes<O> => {
  const literal = new Map<string, O[]>()
  const byPrefix = new Map<string, Route<O>[]>()
  for (const operation of operations) {
    for (const path of [operation.path, ...operation.aliases]) {
      if (path.includes('*')) push(byPrefix, literalPrefix(path), { segments: path.split('/'), operation })
      else push(literal, path, operation)
    }
  }

  const candidates = (path: string): readonly O[] => {
    const exact = literal.get(path)
    if (byPrefix.size === 0) return exact ?? []
    const found = exact ? [...exact] : []
    const segments = path.split('/')
    // Starts below the path itself: `/accounts/**` includes `/accounts`, since `**` may be nothing.
    let prefix = path.endsWith('/') ? path : `${path}/`
    for (;;) {
      for (const route of byPrefix.get(prefix) ?? []) {
        if (covers(route.segments, segments)) found.push(route.operation)
      }
      if (prefix === '/') break
      prefix = prefix.slice(0, prefix.lastIndexOf('/', prefix.length - 2) + 1)
    }
    return found
  }

  return {
    match(method, path) {
      const published = candidates(path)
      const [first] = published
      if (first === undefined) return { kind: 'not_found' }
      const operation =
        published.find(one => one.method === method) ??
        (method === 'HEAD' ? published.find(one => one.method === 'GET') : undefined)
      if (operation) return { kind: 'operation', operation }
      return { kind: 'method_not_allowed', operation: first, allow: allowOf(published) }
    },
  }
}

const allowOf = (published: readonly Operation[]): readonly string[] => {
  const methods = new Set(published.map(operation => operation.method))
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods]
}

/** `/a/` for `/a/*` and `/a/b*`: wildcards are whole segments, so the prefix ends at a slash. */
const literalPrefix = (path: string): string => path.slice(0, path.lastIndexOf('/', path.indexOf('*')) + 1)

const covers = (pattern: readonly string[], segments: readonly string[]): boolean => {
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
