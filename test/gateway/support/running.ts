import { fetchFreshMetrics } from '../../support/fresh-metrics.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../../support/sidegate.ts'

/** Where the groupings of the test gateway go, by base path: `/strict/**` to the upstream named `strict`, and so on. */
export type UpstreamUrls = Readonly<Record<string, string>>

export const clientSecret = 's3cr3t-of-the-client'

/**
 * The real program before these upstreams. For each of them: everything open below `/NAME`, guarded by bearer tokens
 * with the scope `read` below `/NAME-guarded`, and behind query credentials below `/NAME-query`.
 */
export const startGateway = (
  t: Parameters<typeof startSidegate>[0],
  upstreams: UpstreamUrls,
  changes: TestConfig = {},
  env: NodeJS.ProcessEnv = {},
): Promise<RunningSidegate> =>
  startSidegate(
    t,
    {
      store: 'memory:',
      workers: 1,
      plans: { 'default-plan': { title: 'Default Plan', rate: '100000/1second' } },
      groupings: [oauth, ...Object.keys(upstreams).flatMap(groupingsOf)],
      upstreams: Object.fromEntries(
        Object.entries(upstreams).map(([name, url]) => [name, { targets: [url], headersTimeout: '1s' }]),
      ),
      clients: [client('app'), client('other')],
      ...changes,
    },
    env,
  )

export const client = (client_id: string, more: TestConfig = {}): TestConfig => ({
  client_id,
  client_secret: clientSecret,
  client_name: client_id,
  grant_types: ['client_credentials'],
  scope: 'read write',
  ...more,
})

export const oauth: TestConfig = {
  name: 'OAuth',
  operations: [
    { method: 'POST', path: '/token', serves: 'token' },
    { method: 'POST', path: '/introspect', serves: 'introspect' },
    { method: 'POST', path: '/revoke', serves: 'revoke' },
    { method: 'GET', path: '/metadata', serves: 'metadata', credentials: 'query' },
  ],
}

const groupingsOf = (upstream: string): readonly TestConfig[] => [
  {
    name: upstream,
    basePath: `/${upstream}`,
    upstream,
    operations: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'].map(method => ({
      method,
      path: '/**',
      credentials: 'none',
    })),
  },
  {
    name: `${upstream}-guarded`,
    basePath: `/${upstream}-guarded`,
    upstream,
    operations: [
      { method: 'GET', path: '/**', scopes: ['read'] },
      { method: 'POST', path: '/**', scopes: ['write'] },
    ],
  },
  {
    name: `${upstream}-query`,
    basePath: `/${upstream}-query`,
    upstream,
    operations: [{ method: 'GET', path: '/**', credentials: 'query' }],
  },
]

/** A client's access token, from the gateway itself. */
export const fetchToken = async (
  url: string,
  fields: Readonly<Record<string, string>> = {},
  client_id = 'app',
): Promise<string> => {
  const response = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client_id}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...fields }),
  })
  const body = (await response.json()) as { access_token?: string }
  if (body.access_token === undefined) throw new Error(`no token: ${response.status} ${JSON.stringify(body)}`)
  return body.access_token
}

/** The current output of the admin listener. */
export const scrape = async ({ admin }: RunningSidegate): Promise<string> => (await fetchFreshMetrics(admin)).text()

/** The sum of the samples of this metric whose labels contain all of these texts. */
export const sampleOf = (metrics: string, name: string, ...labels: readonly string[]): number =>
  metrics
    .split('\n')
    .filter(line => line.startsWith(name) && labels.every(label => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
