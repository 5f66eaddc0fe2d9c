import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { sidegate } from '../../cli/run.ts'
import { sampleOf, scrape } from '../../gateway/support/running.ts'
import { eventually } from '../../support/eventually.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { newKey } from '../fapi/support/jws.ts'
import { type Posted, post, send } from '../support/post.ts'
import { operations } from '../support/running.ts'
import { headerOf, signAccessToken } from './support/access-tokens.ts'
import { confidentialClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'

const workers = 2
const tokenLifetimeSec = 600
const upstream = await startStrictUpstream(t)

const setup = () => ({
  workers,
  tokens: { accessToken: { lifetime: `${tokenLifetimeSec}s` } },
  groupings: [
    { name: 'OAuth', operations },
    { name: 'Accounts', basePath: '/accounts', upstream: 'accounts', operations: [{ method: 'GET', path: '/**' }] },
  ],
  upstreams: { accounts: { targets: [upstream.url] } },
  clients: [confidentialClient('app')],
})

/** As `sidegate keys list --json` prints it. */
interface ListedKey {
  readonly kid: string
  readonly state: string
  readonly created: string
  readonly activeFrom: string
  readonly publishedUntil?: string
}

const secondsBetween = (from: string | undefined, to: string | undefined): number =>
  (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1000

onEachStore('J. Keys', setup, async (t, { url, gateway }) => {
  const call = (token: string): Promise<Posted> =>
    send(`${url}/accounts/x`, { method: 'GET', type: undefined, headers: { authorization: `Bearer ${token}` } })
  const issue = async (): Promise<string> =>
    String((await post(`${url}/token`, { grant_type: 'client_credentials' }, 'app')).body.access_token)
  const keySet = (): Promise<Posted> => send(`${url}/.well-known/jwks.json`, { method: 'GET', type: undefined })
  const kidsOf = ({ body }: Posted): readonly string[] =>
    (body.keys as readonly { readonly kid: string }[]).map(({ kid }) => kid)
  const many = <T>(act: () => Promise<T>, times = 24): Promise<readonly T[]> =>
    Promise.all(Array.from({ length: times }, act))
  const stranger = newKey('ES256')
  const forged = (kid: string): string => signAccessToken(stranger, url, { header: { kid } })

  await t.test(
    'each worker reads the keys once a second under a flood of unknown kids (RFC 9068 section 4; checklist 88)',
    async t => {
      const readings = async (): Promise<number> =>
        sampleOf(await scrape(gateway), 'sidegate_store_duration_seconds_count', 'keys.load')
      const before = await readings()
      const startedAtMs = performance.now()

      const answers = await many(() => call(forged(randomUUID())), 300)

      const seconds = Math.ceil((performance.now() - startedAtMs) / 1000)
      t.ok(answers.every(({ status }) => status === 401))
      const times = (await readings()) - before
      // One read in each started second, and the regular read every ten seconds.
      t.ok(times >= 1 && times <= workers * (seconds + 2), `${times} reads in ${seconds} s`)
      t.equal((await call(await issue())).status, 200)
    },
  )

  const config = join(gateway.dir, 'sidegate.yaml')
  const listKeys = async (): Promise<readonly ListedKey[]> =>
    JSON.parse((await sidegate(['keys', 'list', '--json', '--config', config])).stdout).keys

  await t.test(
    'a new key is published for one cache period before it signs (OpenID Connect Core section 10.1.1; checklist 96)',
    async t => {
      const [old = ''] = kidsOf(await keySet())
      const token = await issue()
      t.equal(headerOf(token).kid, old)

      const rotated = await sidegate(['keys', 'rotate', '--config', config])

      const next = /^ES256: (\S+)/.exec(rotated.stdout)?.[1] ?? ''
      t.equal(rotated.code, 0)
      await eventually(async () => {
        await many(() => call(forged(next))) // a worker that does not know a key reads the keys again
        return (await many(keySet)).every(answer => kidsOf(answer).includes(next))
      })
      const [, maxAgeSec] = /max-age=(\d+)/.exec((await keySet()).headers.get('cache-control') ?? '') ?? []
      const keys = await listKeys()
      const [current, coming] = [old, next].map(kid => keys.find(key => key.kid === kid))
      t.match([current?.state, coming?.state], ['signing', 'next'])
      t.ok(Number(maxAgeSec) > 0)
      t.ok(secondsBetween(coming?.created, coming?.activeFrom) > Number(maxAgeSec))
      t.same(new Set((await many(issue)).map(issued => headerOf(issued).kid)), new Set([old]))
      t.equal((await call(token)).status, 200)
      t.ok(
        secondsBetween(coming?.activeFrom, current?.publishedUntil) >= tokenLifetimeSec,
        'the old one stays until the last token that it signed has expired',
      )
    },
  )

  await t.test(
    'a token that neither key has signed is refused, whatever its kid (OpenID Connect Core section 10.1.1; checklist 96)',
    async t => {
      for (const kid of kidsOf(await keySet()))
        t.ok((await many(() => call(forged(kid)))).every(({ status }) => status === 401))
    },
  )
})
