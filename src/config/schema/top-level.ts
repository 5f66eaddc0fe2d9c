import { z } from 'zod'
import { auditScopes, forwardedForms } from '../../gateway/options.ts'
import { limitFieldForms } from '../../gateway/ratelimit-headers.ts'
import { profiles } from '../../oauth/clients/metadata.ts'
import { parseStoreUrl, type StoreUrl } from '../../stores/store-url.ts'
import { trustedNetworkFault } from '../values/address.ts'
import { issuerFault } from '../values/issuer.ts'
import { secureUrlFault } from '../values/uris.ts'
import { autoOrCount, checkedText, durationMs, line, oneOf, rate, text, textLike } from '../values/zod-scalars.ts'
import { clientCertificateHeaderSchema, hostPort, internalSchema, tlsSchema } from './listeners.ts'
import { requestsSchema } from './request-limits.ts'
import { scopesSchema } from './scopes.ts'
import { keysSchema, tokensSchema } from './tokens.ts'

/** The settings at the top level of the file: listeners, store and lifetimes. */

/** A section that is checked by itself, item by item. */
const part = () => z.unknown().optional()

const storeUrl = () =>
  text().transform((input, context): StoreUrl => {
    const parsed = parseStoreUrl(input)
    if (!('problem' in parsed)) return parsed
    context.addIssue({ code: 'custom', message: parsed.problem })
    return z.NEVER
  })

export const topLevelSchema = z.strictObject({
  issuer: checkedText(issuerFault)
    .optional()
    .describe('Byte-equal to every iss (RFC 8414 section 2). Default localhost with the port of listen.'),
  profile: oneOf(profiles)
    .default('none')
    .describe('fapi2: every client complies with the FAPI 2.0 Security Profile. Default none.'),
  listen: hostPort()
    .prefault('0.0.0.0:8080')
    .describe('host:port for traffic. Port 0: any free one. Default 0.0.0.0:8080.'),
  tls: tlsSchema,
  admin: hostPort()
    .prefault('127.0.0.1:9090')
    .describe('host:port for /livez, /readyz, /metrics and /version. Default 127.0.0.1:9090.'),
  workers: autoOrCount(256)
    .prefault('auto')
    .describe('Number of worker processes; auto: one for each CPU that the container may use. Default auto.'),
  workerTimeout: durationMs(5000)
    .prefault('30s')
    .describe('A worker whose event loop is blocked for so long is killed and replaced. Default 30s.'),
  pods: autoOrCount(10_000)
    .prefault('auto')
    .describe('Number of gateways that share the store; auto: counted through the store. Default auto.'),
  store: storeUrl()
    .prefault('sqlite:data/sidegate.db')
    .describe(
      'memory:, sqlite:path, redis://, rediss://, redis+sentinel:// or redis+cluster://. Default sqlite:data/sidegate.db.',
    ),
  store_file: text().optional().describe('A file that contains the store URL, in place of store.'),
  trustedProxies: z
    .array(checkedText(trustedNetworkFault))
    .default([])
    .describe('The proxies whose X-Forwarded-* headers are trusted. Default none.'),
  forwardedHeader: oneOf(forwardedForms)
    .default('x-forwarded')
    .describe(
      "The headers that report the client's address and scheme to upstreams: X-Forwarded-*, Forwarded (RFC 7239), or both. Default x-forwarded.",
    ),
  requests: requestsSchema,
  clientCertificateHeader: clientCertificateHeaderSchema,
  internal: internalSchema,
  product: z
    .strictObject({
      name: textLike(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores').default(
        'oauth',
      ),
      title: line().default('OAuth'),
      version: line().default('1.0.0'),
    })
    .prefault({})
    .describe('The name and version under which the groupings are published.'),
  rateLimitHeaders: oneOf(limitFieldForms)
    .default('ietf')
    .describe(
      "The headers that report the rest of a plan's limits: of the IETF draft, its older forms, of API Connect, or none. Default ietf.",
    ),
  scopes: scopesSchema,
  tokens: tokensSchema,
  keys: keysSchema,
  logs: z
    .strictObject({
      audit: oneOf(auditScopes)
        .default('issues')
        .describe(
          'Events in the audit log. changes: changes and refusals; issues: also each issued token; all: also each introspection. Default issues.',
        ),
    })
    .prefault({})
    .describe('Logging in addition to access lines and events of the program.'),
  shutdown: z
    .strictObject({
      delay: durationMs(0).prefault('5s').describe('How long connections are accepted after SIGTERM. Default 5s.'),
      timeout: durationMs(1).prefault('25s').describe('Longest wait for requests in flight. Default 25s.'),
    })
    .prefault({})
    .describe('The time between SIGTERM and exit.'),
  plans: part(),
  groupings: part(),
  upstreams: part(),
  clients: part(),
  login: part(),
})

export const loginSchema = z.strictObject({
  mode: oneOf(['embedded', 'handoff'])
    .default('embedded')
    .describe('embedded: the pages of Sidegate itself; handoff: your own login. Default embedded.'),
  url: checkedText(secureUrlFault('https://login.example.com/sign-in'))
    .optional()
    .describe('The login page to which handoff redirects the browser; it reports over the internal listener.'),
  failures: rate()
    .prefault('10/1minute')
    .describe('Failed authentications for each client or user and address before 429. Default 10/1minute.'),
  starts: rate().prefault('300/1minute').describe('Sign-ins begun from each address before 429. Default 300/1minute.'),
  maxInteractions: autoOrCount(100_000_000)
    .prefault('auto')
    .describe(
      'Maximum number of sign-ins without authentication so far; auto: a sixteenth of the memory, 1 KiB each. Default auto.',
    ),
  users: part(),
})
