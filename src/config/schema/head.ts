import { z } from 'zod'
import { parseStoreUrl, type StoreUrl } from '../../stores/store-url.ts'
import { isNetwork, parseHostPort } from '../values/address.ts'
import { issuerFault } from '../values/issuer.ts'
import {
  autoOrCount,
  checkedText,
  durationMs,
  lifetimeSec,
  line,
  oneOf,
  oneOfYet,
  parsedText,
  rate,
  text,
  textLike,
} from '../values/texts.ts'

/** What is said once: where Sidegate listens, what it keeps and for how long. */

/** A part that is checked by itself, item by item. */
const part = () => z.unknown().optional()

const hostPort = () => parsedText(parseHostPort, 'must be host:port, such as 0.0.0.0:8080 or "[::]:8080"')

const storeUrl = () =>
  z.string().transform((text, context): StoreUrl => {
    const parsed = parseStoreUrl(text)
    if (!('problem' in parsed)) return parsed
    context.addIssue({ code: 'custom', message: parsed.problem })
    return z.NEVER
  })

const network = () =>
  checkedText(text => (isNetwork(text) ? undefined : 'must be an address or a network, such as 10.0.0.0/8 or fd00::/8'))

const tokensSchema = z.strictObject({
  accessToken: z
    .strictObject({
      format: oneOf(['jwt', 'opaque']).default('jwt').describe('jwt (RFC 9068) or opaque. Default jwt.'),
      lifetime: lifetimeSec(1).prefault('10m').describe('Default 10m.'),
      alg: oneOfYet(['ES256']).default('ES256').describe('Signature of JWTs. Default ES256.'),
    })
    .prefault({}),
  refreshToken: z
    .strictObject({
      lifetime: lifetimeSec(1).prefault('30d').describe('Renewed by every rotation. Default 30d.'),
      reuseWindow: lifetimeSec(0, 3600)
        .prefault('10s')
        .describe('How long after a rotation the token before it still yields the same successor. Default 10s.'),
    })
    .prefault({}),
  code: z
    .strictObject({
      // RFC 6749 section 4.1.2 recommends ten minutes at most.
      lifetime: lifetimeSec(1, 600).prefault('60s').describe('Life of an authorization code. Default 60s.'),
    })
    .prefault({}),
})

export const headSchema = z.strictObject({
  issuer: checkedText(issuerFault)
    .optional()
    .describe('Byte-equal to every iss (RFC 8414 section 2). Default http://localhost:<port of listen>.'),
  listen: hostPort()
    .prefault('0.0.0.0:8080')
    .describe('host:port for traffic. Port 0: any free one. Default 0.0.0.0:8080.'),
  admin: hostPort()
    .prefault('127.0.0.1:9090')
    .describe('host:port for /livez, /readyz, /metrics and /version. Default 127.0.0.1:9090.'),
  workers: autoOrCount(256)
    .prefault('auto')
    .describe('Processes that serve; auto: the CPUs the container may use. Default auto.'),
  pods: autoOrCount(10_000)
    .prefault('auto')
    .describe('How many share the store; auto: counted through it. Default auto.'),
  store: storeUrl()
    .prefault('sqlite:data/sidegate.db')
    .describe(
      'memory:, sqlite:path, redis://, rediss://, redis+sentinel:// or redis+cluster://. Default sqlite:data/sidegate.db.',
    ),
  store_file: text().optional().describe('A file that holds the store URL, in place of store.'),
  trustedProxies: z.array(network()).default([]).describe('Whose X-Forwarded-* is believed. Default nobody.'),
  product: z
    .strictObject({
      name: textLike(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores').default(
        'oauth',
      ),
      title: line().default('OAuth'),
      version: line().default('1.0.0'),
    })
    .prefault({})
    .describe('What the groupings are published as.'),
  tokens: tokensSchema.prefault({}).describe('Forms and lifetimes of what is issued.'),
  shutdown: z
    .strictObject({
      delay: durationMs(0).prefault('5s').describe('Keep accepting for so long after SIGTERM. Default 5s.'),
      timeout: durationMs(1).prefault('25s').describe('Longest wait for what is in flight. Default 25s.'),
    })
    .prefault({})
    .describe('What happens between SIGTERM and exit.'),
  plans: part(),
  groupings: part(),
  upstreams: part(),
  clients: part(),
  login: part(),
})

export const loginSchema = z.strictObject({
  mode: oneOfYet(['embedded'])
    .default('embedded')
    .describe('embedded: the pages of Sidegate itself. Default embedded.'),
  failures: rate()
    .prefault('10/1minute')
    .describe('Wrong proofs for each client or user and address before 429. Default 10/1minute.'),
  users: part(),
})
