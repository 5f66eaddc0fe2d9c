import t from 'tap'
import { methods, type Operation, type Served, type Target } from '../../src/gateway/operation.ts'
import { createRoutes } from '../../src/gateway/routing/route-table.ts'

const forwarded: Target = {
  kind: 'forward',
  upstream: 'up',
  forwardedHeader: 'x-forwarded',
  identity: 'headers',
  stripPrefix: '',
  dropHeaders: [],
  forwardAuthorization: false,
  maxBodyBytes: 0,
  resource: '',
}

const operation = (
  method: string,
  path: string,
  aliases: readonly string[] = [],
  target: Target = forwarded,
): Operation => ({
  grouping: 'G',
  version: '1.0.0',
  method,
  path,
  aliases,
  credentials: 'none',
  scopes: [],
  plan: 'none',
  target,
})

const serving = (method: string, path: string, serves: Served): Operation =>
  operation(method, path, [], { kind: 'serve', serves, advertise: true })

const routes = createRoutes([
  operation('GET', '/'),
  operation('GET', '/a'),
  operation('GET', '/a/**'),
  operation('POST', '/a/**'),
  operation('GET', '/a/b/*'),
  operation('GET', '/a/b/c'),
  operation('DELETE', '/a/b/c'),
  operation('GET', '/x/*/y', ['/alias', '/other/*']),
  operation('HEAD', '/own'),
  operation('GET', '/own'),
  operation('POST', '/post'),
  serving('GET', '/a/metadata', 'metadata'),
  serving('GET', '/a/authorize', 'authorize'),
  serving('POST', '/a/authorize', 'authorize'),
])

/** The path of the operation found, else what was found instead. */
const find = (method: string, path: string): string => {
  const match = routes.match(method, path)
  return match.kind === 'operation' ? `${match.operation.method} ${match.operation.path}` : match.kind
}

t.test('the longest literal prefix wins', async t => {
  const cases = [
    ['/', 'GET /'],
    ['/a', 'GET /a'],
    ['/a/', 'GET /a'],
    ['/a/z', 'GET /a/**'],
    ['/a/z/z/z', 'GET /a/**'],
    ['/a/b', 'GET /a/**'],
    ['/a/b/z', 'GET /a/b/*'],
    ['/a/b/c', 'GET /a/b/c'],
    ['/a/b/c/d', 'GET /a/**'],
    ['/a/b/', 'GET /a/**'],
  ] as const

  for (const [path, found] of cases) t.equal(find('GET', path), found, path)
})

t.test('a slash at the end bypasses no operation, and matches only wildcards', async t => {
  t.equal(find('GET', '/a/b/c/'), 'GET /a/b/c')
  t.equal(find('GET', '/a/b/z/'), 'GET /a/b/*')
  t.equal(find('DELETE', '/a/b/c/'), 'method_not_allowed')
  t.equal(find('POST', '/a/b/c/'), 'POST /a/**')
  t.equal(find('GET', '/post/'), 'not_found')
})

t.test('* is one segment, which is not empty', async t => {
  t.equal(find('GET', '/x/1/y'), 'GET /x/*/y')
  for (const path of ['/x//y', '/x/1/2/y', '/x/1', '/x/1/y/', '/x/1/z']) t.equal(find('GET', path), 'not_found', path)
})

t.test('an alias is the same operation', async t => {
  t.equal(find('GET', '/alias'), 'GET /x/*/y')
  t.equal(find('GET', '/other/1'), 'GET /x/*/y')
})

t.test('a path is matched whole and as it is written', async t => {
  for (const path of ['/A', '/ab', '/post/', '/po', '/b']) t.equal(find('GET', path), 'not_found', path)
})

t.test('HEAD goes to its own operation, else to that of GET (RFC 9110 section 9.3.2)', async t => {
  t.equal(find('HEAD', '/own'), 'HEAD /own')
  t.equal(find('HEAD', '/a/b/c'), 'GET /a/b/c')
  t.equal(find('HEAD', '/post'), 'method_not_allowed')
})

const allowOf = (method: string, path: string): readonly string[] => {
  const match = routes.match(method, path)
  return match.kind === 'method_not_allowed' ? match.allow.toSorted() : []
}

t.test('HEAD begins no sign-in, and is not sent past authorize to a wildcard', async t => {
  t.equal(find('HEAD', '/a/authorize'), 'method_not_allowed')
  t.same(allowOf('HEAD', '/a/authorize'), ['GET', 'POST'])
  t.equal(find('HEAD', '/a/metadata'), 'GET /a/metadata')
})

/**
 * Operations that are forwarded here and operations that another proxy forwards, at paths where each could be taken for
 * the other.
 */
const shared = createRoutes([
  operation('GET', '/**'),
  operation('GET', '/a/**', [], { kind: 'elsewhere', resource: '', identity: 'headers' }),
  operation('POST', '/a/b', [], { kind: 'elsewhere', resource: '', identity: 'headers' }),
  operation('PUT', '/a/b'),
  operation('GET', '/check', [], { kind: 'check', gateway: 'nginx' }),
  operation('*', '/ask/**', [], { kind: 'check', gateway: 'envoy' }),
])

t.test('what another gateway forwards is found by it alone, and it finds nothing else', async t => {
  const cases = [
    ['GET', '/x', 'operation', 'not_found'],
    ['GET', '/a/x', 'not_found', 'operation'],
    ['HEAD', '/a/x', 'not_found', 'operation'],
    ['POST', '/a/b', 'not_found', 'operation'],
    ['PUT', '/a/b', 'operation', 'not_found'],
    ['GET', '/check', 'check', 'not_found'],
    ['POST', '/a/x', 'not_found', 'method_not_allowed'],
    ['DELETE', '/x', 'method_not_allowed', 'not_found'],
  ] as const

  for (const [method, path, here, elsewhere] of cases) {
    t.equal(shared.match(method, path).kind, here, `${method} ${path}`)
    t.equal(shared.matchElsewhere(method, path).kind, elsewhere, `${method} ${path}, asked about`)
  }
})

t.test('each side gets its own methods of a path', async t => {
  t.match(shared.match('DELETE', '/a/b'), { kind: 'method_not_allowed', allow: ['PUT'] })
  t.match(shared.matchElsewhere('DELETE', '/a/b'), { kind: 'method_not_allowed', allow: ['POST', 'GET', 'HEAD'] })
})

t.test('* is every method that there is', async t => {
  for (const method of methods) t.equal(shared.match(method, '/ask/a').kind, 'check', method)
  t.match(shared.match('PROPFIND', '/ask/a'), { kind: 'method_not_allowed', allow: methods })
})

t.test('a method that is not published is refused with the published ones', async t => {
  t.same(allowOf('GET', '/post'), ['POST'])
  t.same(allowOf('PUT', '/a/b/c'), ['DELETE', 'GET', 'HEAD', 'POST'])
  t.same(allowOf('PATCH', '/a/z'), ['GET', 'HEAD', 'POST'])
  t.equal(find('get', '/a'), 'method_not_allowed', 'methods are case-sensitive')
})
