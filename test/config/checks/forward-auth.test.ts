import t from 'tap'
import { holdsEach } from '../cases.ts'
import { forwarded, publishing } from '../support.ts'

type Fields = Readonly<Record<string, unknown>>

const check = { method: 'GET', path: '/check', serves: 'check', gateway: 'nginx' } as const
const forEnvoy = { method: '*', path: '/check/**', serves: 'check', gateway: 'envoy' } as const
const elsewhere = { method: 'GET', path: '/accounts', upstream: 'none' } as const

/** A gateway at 127.0.0.1 that may ask about `elsewhere`, and these operations. */
const asked = (...operations: readonly Fields[]): Fields => ({
  trustedProxies: ['127.0.0.1'],
  ...publishing(elsewhere, ...operations),
})

/** A grouping that another gateway forwards, but for this operation. */
const elsewhereBut = (operation: Fields): Fields => ({
  ...asked(),
  groupings: [{ name: 'G', upstream: 'none', operations: [check, { method: 'GET', path: '/a' }, operation] }],
})

holdsEach(t, [
  {
    says: 'a check names the gateway that asks',
    refused: asked({ ...check, gateway: undefined }),
    message: /operations\[1\]\.gateway: missing; name the gateway that asks: nginx, envoy, traefik or caddy/,
    accepted: asked(check),
  },
  {
    says: 'there are four gateways that ask',
    refused: asked({ ...check, gateway: 'apache' }),
    message: /gateway: .*nginx, envoy, traefik/,
    accepted: asked({ ...check, gateway: 'traefik' }),
  },
  {
    says: 'gateway is only for a check',
    refused: asked(check, { ...forwarded, gateway: 'nginx' }),
    message: /operations\[2\]\.gateway: is only for serves: check/,
    accepted: asked(check, forwarded),
  },
  {
    says: 'at least one gateway is trusted to ask',
    refused: { ...asked(check), trustedProxies: [] },
    message: /operations\[1\]\.serves: no gateway is trusted to ask; name it under trustedProxies/,
    accepted: asked(check),
  },
  {
    says: 'a check needs an operation that another gateway forwards',
    refused: { ...asked(), ...publishing(forwarded, check) },
    message: /operations\[1\]\.serves: no operation has upstream: none/,
    accepted: asked(forwarded, check),
  },
  {
    says: 'an operation that another gateway forwards needs a check',
    refused: asked(forwarded),
    message: /operations\[0\]\.upstream: none is for operations that another gateway forwards after it has asked here/,
    accepted: asked(check),
  },
  {
    says: 'Envoy asks with any method',
    refused: asked({ ...forEnvoy, method: 'GET' }),
    message: /operations\[1\]\.method: Envoy asks with the method of the original request/,
    accepted: asked(forEnvoy),
  },
  {
    says: 'all other gateways ask with one method',
    refused: asked({ ...check, method: '*' }),
    message: /operations\[1\]\.method: \* is only for serves: check with gateway: envoy/,
    accepted: asked({ ...check, method: 'GET' }),
  },
  {
    says: 'the method of all other gateways is GET',
    refused: asked({ ...check, method: 'POST' }),
    message: /operations\[1\]\.method: check is served only for GET and \*/,
    accepted: asked(check),
  },
  {
    says: 'no other operation is published for any method',
    refused: asked(check, { ...forwarded, method: '*' }),
    message: /operations\[2\]\.method: \* is only for serves: check with gateway: envoy/,
    accepted: asked(check, { ...forwarded, method: 'PUT' }),
  },
  ...['/check', '/**', '/check/*', '/*/check/**', '/.well-known/**'].map(path => ({
    says: `Envoy puts a prefix before the original path, and ${path} is not a path for that`,
    refused: asked({ ...forEnvoy, path }),
    message: /operations\[1\]\.path: Envoy puts its path_prefix before the original path/,
    accepted: asked({ ...forEnvoy, path: '/a/check/**' }),
  })),
  {
    says: 'all other gateways ask at one path',
    refused: asked({ ...check, path: '/check/**' }),
    message: /operations\[1\]\.path: nginx asks with a fixed path/,
    accepted: asked({ ...check, path: '/check/nginx', aliases: ['/also'] }),
  },
  {
    says: "an alias of Envoy's check would be another prefix",
    refused: asked({ ...forEnvoy, aliases: ['/also'] }),
    message: /operations\[1\]\.aliases: a check for envoy has only one path/,
    accepted: asked(forEnvoy),
  },
  ...[{ path: '/check' }, { path: '/check/a' }, { path: '/a', aliases: ['/check/*/b'] }].map(place => ({
    says: `an operation at ${JSON.stringify(place)} would answer Envoy in place of the check`,
    refused: asked(forEnvoy, { ...forwarded, ...place }),
    message:
      /operations\[2\]\.path: below \/check Envoy sends its checks \(groupings\[0\]\.operations\[1\]\), which this operation would answer/,
    accepted: asked(forEnvoy, { ...forwarded, path: '/checks' }),
  })),
  {
    says: 'a gateway asks without credentials',
    refused: asked({ ...check, credentials: 'client' }),
    message: /operations\[1\]\.credentials: must be none for check/,
    accepted: asked({ ...check, credentials: 'none' }),
  },
  {
    says: 'the gateway that forwards decides whether Authorization is forwarded',
    refused: { ...asked(check), ...publishing({ ...elsewhere, forwardAuthorization: true }, check) },
    message: /operations\[0\]\.forwardAuthorization: has no effect with upstream: none/,
    accepted: { ...asked(check), ...publishing({ ...elsewhere, forwardAuthorization: false }, check) },
  },
  {
    says: 'the gateway that forwards limits the size of bodies',
    refused: { ...asked(check), ...publishing({ ...elsewhere, maxBody: '1MiB' }, check) },
    message: /operations\[0\]\.maxBody: has no effect with upstream: none/,
    accepted: asked(check, { ...forwarded, maxBody: '1MiB' }),
  },
  {
    says: 'no upstream is named none',
    refused: { ...asked(check), upstreams: { items: { targets: ['http://a'] }, none: { targets: ['http://a'] } } },
    message: /upstreams\.none: upstream: none means that another gateway forwards/,
    accepted: { ...asked(check), upstreams: { nobody: { targets: ['http://a'] } } },
  },
  {
    says: 'of a grouping that is forwarded elsewhere an operation may be forwarded here',
    refused: elsewhereBut({ ...forwarded, upstream: 'item' }),
    message: /operations\[2\]\.upstream: no such upstream/,
    accepted: elsewhereBut(forwarded),
  },
])
