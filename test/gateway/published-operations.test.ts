import t from 'tap'
import type { Operation, Target } from '../../src/gateway/operation.ts'
import { publishOperations } from '../../src/gateway/routing/built-in-operations.ts'

const issuer = 'https://auth.example'
const login = { mode: 'embedded' } as const

const operation = (method: string, path: string, target: Target, aliases: readonly string[] = []): Operation => ({
  grouping: 'Configured',
  version: '2.0.0',
  method,
  path,
  aliases,
  credentials: 'bearer',
  scopes: ['read'],
  plan: 'client',
  target,
})

const forwardTo = (resource: string): Target => ({
  kind: 'forward',
  upstream: 'up',
  forwardedHeader: 'x-forwarded',
  identity: 'headers',
  stripPrefix: '',
  dropHeaders: [],
  forwardAuthorization: false,
  maxBodyBytes: 0,
  resource,
})

const serve = (serves: 'authorize' | 'discovery'): Target => ({ kind: 'serve', serves, advertise: false })

const metadataPath = '/.well-known/oauth-protected-resource/accounts'
const accounts = { resource: `${issuer}/accounts`, scopes: ['read'], name: 'Accounts', metadataPath }
const forwarded = operation('GET', '/accounts/**', forwardTo(accounts.resource))

/** The operations that are published beside the configured ones. */
const added = (configured: readonly Operation[], resources = [accounts], place = issuer): readonly Operation[] =>
  publishOperations(configured, { issuer: place, login, resources }).slice(configured.length)

t.test('the metadata of a forwarded resource is public, in the grouping that forwards', async t => {
  t.same(added([forwarded]), [
    {
      grouping: 'Configured',
      version: '2.0.0',
      method: 'GET',
      path: metadataPath,
      aliases: [],
      credentials: 'none',
      scopes: [],
      plan: 'none',
      target: { kind: 'serve', serves: 'resource-metadata', advertise: false },
    },
  ])
})

t.test('a resource that another gateway forwards to is described as well', async t => {
  const elsewhere = operation('GET', '/accounts/**', {
    kind: 'elsewhere',
    resource: accounts.resource,
    identity: 'headers',
  })

  t.same(added([elsewhere]), added([forwarded]))
})

t.test('a resource that no operation forwards to, or that another server describes, has no metadata', async t => {
  const { metadataPath: _metadataPath, ...elsewhere } = accounts

  t.same(added([operation('GET', '/accounts/**', forwardTo(`${issuer}/Accounts`))]), [])
  t.same(publishOperations([forwarded], { issuer, login, resources: [elsewhere] }), [forwarded])
})

t.test('a configured operation at the same place goes before, by its path or an alias', async t => {
  const own = operation('GET', metadataPath, forwardTo(accounts.resource))
  const alias = operation('GET', '/own', forwardTo(accounts.resource), [metadataPath])
  const others = [
    operation('POST', metadataPath, forwardTo(accounts.resource)),
    operation('GET', '/**', forwardTo(accounts.resource)),
  ]

  t.same(added([own]), [])
  t.same(added([alias]), [])
  for (const other of others) t.equal(added([other]).length, 1)
})

t.test('the login pages come with the authorization endpoint alone', async t => {
  const pages = added([operation('GET', '/authorize', serve('authorize'))])

  t.ok(pages.length > 0)
  for (const page of pages) {
    t.match(page, { grouping: 'Configured', credentials: 'none', plan: 'none', target: { serves: 'interaction' } })
  }
  t.same(added([operation('GET', '/.well-known/oauth-authorization-server', serve('discovery'))]), [])
})

t.test(
  'with a path in the issuer, discovery has a second place, and only where it is the usual one (RFC 8414 section 3; checklist 93)',
  async t => {
    const wellKnown = '/.well-known/oauth-authorization-server'
    const aliasesAt = (path: string, place: string): readonly string[] =>
      publishOperations([operation('GET', path, serve('discovery'))], { issuer: place, login, resources: [] })[0]
        ?.aliases ?? []

    t.same(aliasesAt(wellKnown, `${issuer}/tenant`), [`${wellKnown}/tenant`])
    t.same(aliasesAt(wellKnown, issuer), [])
    t.same(aliasesAt('/discovery', `${issuer}/tenant`), [])
  },
)
