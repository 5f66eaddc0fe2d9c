/** Requests to every grouping of a gateway, which end in every way that people want to see counted. */
import { ask } from '../../support/raw-client.ts'
import type { TestConfig } from '../../support/sidegate.ts'

const callback = 'https://client.example/callback'

/**
 * @param upstream the service behind it
 * @param caFile a certificate to be watched
 */
export const gatewayBefore = (upstream: string, caFile: string): TestConfig => ({
  workers: 2,
  // The requests of a round come from an address of their own, which has a count of its own.
  trustedProxies: ['127.0.0.1/32'],
  plans: { 'default-plan': { rate: '100000/1second' }, tight: { rate: '1/1hour' } },
  groupings: [
    {
      name: 'OAuth',
      operations: [
        { method: 'POST', path: '/token', serves: 'token' },
        { method: 'POST', path: '/introspect', serves: 'introspect' },
        { method: 'GET', path: '/authorize', serves: 'authorize' },
      ],
    },
    { name: 'Metadata', operations: [{ method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' }] },
    {
      name: 'Accounts',
      upstream: 'accounts',
      operations: [
        { method: 'GET', path: '/accounts', scopes: ['accounts:read'] },
        { method: 'POST', path: '/accounts', scopes: ['accounts:write'] },
        { method: 'GET', path: '/rates', credentials: 'none', plan: 'tight' },
      ],
    },
    { name: 'Dead', upstream: 'dead', operations: [{ method: 'GET', path: '/dead', credentials: 'none' }] },
  ],
  upstreams: {
    accounts: { targets: [upstream] },
    // No service listens at either address: a request is retried, and one of the two is ejected at once.
    dead: {
      targets: ['https://127.0.0.1:1', 'https://127.0.0.1:2'],
      tls: { ca_file: caFile },
      outlierDetection: { failures: 1 },
    },
  },
  clients: [
    {
      client_id: 'app',
      client_secret: 'app-secret',
      grant_types: ['client_credentials', 'authorization_code'],
      redirect_uris: [callback],
      scope: 'accounts:read accounts:write',
      plan: 'default-plan',
    },
  ],
})

/** An answered request, as its sender would count it. */
export interface Sent {
  readonly grouping: string
  readonly code: string
}

const basic = (secret: string): string => `Basic ${btoa(`app:${secret}`)}`

const authorizationRequest = new URLSearchParams({
  response_type: 'code',
  client_id: 'app',
  redirect_uri: callback,
  // RFC 7636 appendix B.
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
})

/**
 * Sends the same requests as any other round.
 * @throws Error where one is not answered as it should be
 */
export const sendRound = async (url: string, round: number): Promise<readonly Sent[]> => {
  const sent: Sent[] = []
  const send = async (grouping: string, status: number, path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...init.headers, 'x-forwarded-for': `192.0.2.${round}` }
    const response = await fetch(url + path, { redirect: 'manual', ...init, headers })
    if (response.status !== status) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    sent.push({ grouping, code: String(status) })
    return response
  }
  const post = (status: number, path: string, form: Form, secret = 'app-secret'): Promise<Response> => {
    const init = { method: 'POST', headers: { authorization: basic(secret) }, body: new URLSearchParams(form) }
    return send('OAuth', status, path, init)
  }
  const bearing = (token: string, method = 'GET') => ({ method, headers: { authorization: `Bearer ${token}` } })

  const issued = await post(200, '/token', { grant_type: 'client_credentials', scope: 'accounts:read' })
  const { access_token: token } = (await issued.json()) as { readonly access_token: string }
  await post(401, '/token', { grant_type: 'client_credentials' }, 'wrong-secret')
  await post(200, '/introspect', { token })
  await post(200, '/introspect', { token: 'none' })
  await send('OAuth', 303, `/authorize?${authorizationRequest}`)
  await send('Metadata', 200, '/metadata?client_id=app&client_secret=app-secret')
  await send('Accounts', 200, '/accounts', bearing(token))
  await send('Accounts', 401, '/accounts')
  await send('Accounts', 401, '/accounts', bearing('none'))
  await send('Accounts', 403, '/accounts', bearing(token, 'POST'))
  await send('Accounts', 200, '/rates')
  await send('Accounts', 429, '/rates')
  await send('Dead', 502, '/dead')
  await send('unmatched', 404, '/nowhere')
  sent.push(await sendNoRequest(url))
  return sent
}

/** Bytes that are no request, on a connection that is dropped for it. */
const sendNoRequest = async (url: string): Promise<Sent> => {
  const { status } = await ask(url, 'no request\r\n\r\n')
  if (status !== 400) throw new Error(`no request: ${status}`)
  return { grouping: 'unmatched', code: '400' }
}

type Form = Readonly<Record<string, string>>
