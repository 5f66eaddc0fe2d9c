import t from 'tap'
import { holdsEach } from '../cases.ts'
import { authorize, client, publishing } from '../support.ts'

const clients = (...changes: readonly Readonly<Record<string, unknown>>[]): unknown => ({
  clients: changes.map(client),
})
/** The same, in a configuration that serves authorize. */
const withCodes = (...changes: readonly Readonly<Record<string, unknown>>[]): unknown => ({
  ...publishing(authorize),
  clients: changes.map(client),
})
const codes = { grant_types: ['authorization_code'], redirect_uris: ['https://a.example/'] }
const plans = { gold: { rate: '9/1second' }, silver: { rate: '3/1second' } }

holdsEach(t, [
  {
    says: 'a client_id is printable ASCII',
    refused: clients({ client_id: 'Käufer' }),
    message: /client_id: a client_id is 1 to 512 characters of printable ASCII/,
    accepted: clients({ client_id: 'a shop' }),
  },
  {
    says: 'a client_id has no space at its end, which HTTP would remove',
    refused: clients({ client_id: 'shop ' }),
    message: /client_id: a client_id has no space at either end/,
    accepted: clients({ client_id: 'a shop' }),
  },
  {
    says: 'a client_id has no space at its beginning',
    refused: clients({ client_id: ' shop' }),
    message: /client_id: a client_id has no space at either end/,
    accepted: clients({ client_id: 'shop' }),
  },
  {
    says: 'a client_name closes the bidirectional override that it opens',
    refused: clients({ client_name: 'Shop \u202egnp.exe' }),
    message: /client_name: must close each bidirectional control character/,
    accepted: clients({ client_name: 'Shop \u2067\u05d0\u05d1\u2069 \u200f!' }),
  },
  {
    says: 'a client_name closes no embedding that it has not opened',
    refused: clients({ client_name: 'Shop \u2069' }),
    message: /client_name: must close each bidirectional control character/,
    accepted: clients({ client_name: 'Shop \u202b\u05d0\u202c' }),
  },
  {
    says: 'a client_id has a maximum length',
    refused: clients({ client_id: 'x'.repeat(513) }),
    message: /client_id: a client_id is 1 to 512 characters of printable ASCII/,
    accepted: clients({ client_id: 'x'.repeat(512) }),
  },
  {
    says: 'a client_secret is printable ASCII',
    refused: clients({ client_secret: 'a\tb' }),
    message: /client_secret: a secret is at least one character of printable ASCII/,
    accepted: clients({ client_secret: 'a b' }),
  },
  {
    says: 'a public client has no client_credentials',
    refused: clients({ token_endpoint_auth_method: 'none', client_secret: undefined }),
    message: /grant_types: client_credentials is only for clients that authenticate \(RFC 6749 section 4\.4\)/,
    accepted: withCodes({ token_endpoint_auth_method: 'none', client_secret: undefined, ...codes }),
  },
  {
    says: 'a grant type is one that is served',
    refused: clients({ grant_types: ['password'] }),
    message: /grant_types\[0\]: must be client_credentials, authorization_code or refresh_token/,
    accepted: clients({ grant_types: ['client_credentials', 'refresh_token'] }),
  },
  {
    says: 'authorization_code needs a redirect URI',
    refused: withCodes({ grant_types: ['authorization_code'] }),
    message: /redirect_uris: missing/,
    accepted: withCodes(codes),
  },
  {
    says: 'authorization_code begins at an operation',
    refused: clients(codes),
    message:
      /grant_types: authorization_code \(the default grant type\) needs an operation that serves authorize \(GET\)/,
    accepted: withCodes(codes),
  },
  {
    says: 'authorization_code begins with a GET',
    refused: { ...publishing({ ...authorize, method: 'POST' }), clients: [client(codes)] },
    message: /grant_types: authorization_code .* serves authorize \(GET\)/,
    accepted: withCodes(codes),
  },
  {
    says: 'the scope of a client is scopes and spaces',
    refused: clients({ scope: 'read "write"' }),
    message: /scope: must be one text, with a space between scopes; a scope is printable ASCII/,
    accepted: clients({ scope: 'read  write' }),
  },
  {
    says: 'a client names its plan where there are several',
    refused: { plans, clients: [client()] },
    message: /plan: missing; there is more than one plan: gold, silver/,
    accepted: { plans, clients: [client({ plan: 'gold' })] },
  },
  {
    says: 'the plan of a client exists',
    refused: { plans, clients: [client({ plan: 'bronze' })] },
    message: /plan: no such plan; known are gold, silver/,
    accepted: { plans, clients: [client({ plan: 'silver' })] },
  },
  {
    says: 'a client needs a plan in the file',
    refused: { plans: {}, clients: [client()] },
    message: /plan: there is no plan; define one/,
    accepted: { plans: {} },
  },
  {
    says: 'a client_id is given once',
    refused: clients({}, {}),
    message: /clients\[1\]\.client_id: another client has this client_id/,
    accepted: clients({}, { client_id: 'Shop' }),
  },
  {
    says: 'a client introspects its own tokens, all, or those for resources',
    refused: clients({ introspects: 'some' }),
    message: /introspects: must be own, all or a list of resource URIs/,
    accepted: clients({ introspects: ['https://api.example.com/a'] }),
  },
])
