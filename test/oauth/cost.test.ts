/** The round trips to the store that requests cost, and that no record of them stays for ever. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { backgroundKinds, toKind, watchTraffic } from '../support/redis-traffic.ts'
import { type Flows, refreshOf, runEveryFlow, startFlows, statusesOfEveryFlow } from './support/every-flow.ts'

const formats = ['jwt', 'opaque'] as const
type Format = (typeof formats)[number]

/** The longest life of a record of each kind, in seconds, with the default lifetimes. */
const longestSec: Readonly<Record<string, number>> = {
  grant: 30 * 86_400,
  token: 600,
  revoked: 30 * 86_400,
  feed: 30 * 86_400,
  expiry: 30 * 86_400,
  interaction: 900,
  pushed: 900,
  replay: 300,
  unproven: 900,
}

const longest = Math.max(...Object.values(longestSec))

/** Proofs need no nonce, so that no request is sent twice. */
const tokensIn = (format: Format) => ({ accessToken: { format }, dpop: { nonce: 'optional' } })

/** A prepared request, so that only its own round trips are counted. */
interface Costing {
  readonly name: string
  /** The kinds of keys that are used, a list for each round trip. */
  readonly costs: Readonly<Record<Format, Trips>>
  /** The expected status; 200 if left out. */
  readonly status?: number
  prepare(flows: Flows): Promise<() => Promise<{ readonly status: number }>>
}

type Trips = readonly (readonly string[])[]

const always = (...trips: Trips): Costing['costs'] => ({ jwt: trips, opaque: trips })

const machineToken = async ({ token }: Flows): Promise<unknown> =>
  (await token({ grant_type: 'client_credentials' }, 'app')).body.access_token

const unknownToken = `${'A'.repeat(22)}.${'A'.repeat(43)}`

const costings: readonly Costing[] = [
  {
    name: "a machine's token",
    costs: { jwt: [], opaque: [['token']] },
    prepare: async flows => () => flows.token({ grant_type: 'client_credentials' }, 'app'),
  },
  {
    name: 'a token for an assertion and a proof of possession',
    costs: { jwt: [['replay', 'replay']], opaque: [['replay', 'replay', 'token']] },
    prepare:
      async ({ tpp }) =>
      () =>
        tpp.token({ grant_type: 'client_credentials' }),
  },
  {
    name: 'a code',
    costs: always(['grant']),
    prepare: async flows => {
      const redemption = await flows.newRedemption('app')
      return () => flows.token(redemption, 'app')
    },
  },
  {
    name: 'a refresh that keeps its token',
    costs: always(['grant']),
    prepare: async flows => {
      const { body } = await flows.signIn('app')
      return () => flows.token(refreshOf(body.refresh_token), 'app')
    },
  },
  {
    name: 'a refresh with less scope',
    costs: always(['grant']),
    prepare: async flows => {
      const { body } = await flows.signIn('app')
      return () => flows.token(refreshOf(body.refresh_token, 'read'), 'app')
    },
  },
  {
    name: 'a refresh that rotates',
    costs: always(['grant']),
    prepare: async flows => {
      const { body } = await flows.signIn('spa')
      return () => flows.token(refreshOf(body.refresh_token), 'spa')
    },
  },
  {
    name: 'a code, with an assertion and a proof of possession',
    costs: always(['replay', 'replay', 'grant']),
    prepare: async ({ tpp }) => {
      const code = await tpp.newCode()
      return () => tpp.redeem(code)
    },
  },
  {
    name: 'a refresh, with an assertion and a proof of possession',
    costs: always(['replay', 'replay', 'grant']),
    prepare: async ({ tpp }) => {
      const { body } = await tpp.redeem(await tpp.newCode())
      return () => tpp.token(refreshOf(body.refresh_token))
    },
  },
  {
    name: 'a refused request with an assertion',
    costs: always(['replay']),
    status: 400,
    prepare:
      async ({ tpp }) =>
      () =>
        tpp.token({ grant_type: 'client_credentials', scope: 'other' }),
  },
  {
    name: 'a pushed authorization request',
    costs: always(['replay', 'pushed']),
    status: 201,
    prepare:
      async ({ tpp }) =>
      () =>
        tpp.push(),
  },
  {
    name: 'introspecting with an assertion',
    costs: { jwt: [['replay', 'revoked']], opaque: [['replay', 'grant']] },
    prepare: async flows => {
      const { body } = await flows.tpp.token({ grant_type: 'client_credentials' })
      return () => flows.introspectByAssertion(body.access_token)
    },
  },
  {
    name: 'introspecting a malformed token, with an assertion',
    costs: always(['replay']),
    prepare: async flows => () => flows.introspectByAssertion('none'),
  },
  {
    name: 'introspecting an access token',
    costs: { jwt: [['revoked']], opaque: [['grant']] },
    prepare: async flows => {
      const token = await machineToken(flows)
      return () => flows.introspect(token)
    },
  },
  {
    name: 'introspecting with a wrong hint',
    costs: { jwt: [['revoked']], opaque: [['grant']] },
    prepare: async flows => {
      const token = await machineToken(flows)
      return () => flows.introspect(token, 'refresh_token')
    },
  },
  {
    name: 'introspecting a refresh token',
    costs: always(['grant']),
    prepare: async flows => {
      const { body } = await flows.signIn('app')
      return () => flows.introspect(body.refresh_token)
    },
  },
  {
    name: 'introspecting an unknown token',
    costs: always(['grant']),
    prepare: async flows => () => flows.introspect(unknownToken),
  },
  { name: 'introspecting a malformed token', costs: always(), prepare: async flows => () => flows.introspect('none') },
  {
    name: 'revoking an access token',
    costs: { jwt: [['grant', 'feed'], ['revoked']], opaque: [['grant'], ['token']] },
    prepare: async flows => {
      const token = await machineToken(flows)
      return () => flows.revoke(token)
    },
  },
  {
    name: 'revoking a refresh token',
    costs: always(['grant'], ['grant', 'feed'], ['revoked']),
    prepare: async flows => {
      const { body } = await flows.signIn('app')
      return () => flows.revoke(body.refresh_token)
    },
  },
]

t.test('with Redis', async t => {
  const redis = await startRedis(t)
  const traffic = await watchTraffic(t, redis)
  const keysOfRequests = async (): Promise<readonly string[]> =>
    (await redis.client.keys('*')).filter(key => !backgroundKinds.includes(toKind(key)))

  for (const format of formats) {
    const flows = await startFlows(t, { store: traffic.url, tokens: tokensIn(format) })
    const signingKeys = await redis.client.hkeys('sidegate:keys')

    await t.test(`every flow works, and leaves only records that expire (${format})`, async t => {
      for (let round = 0; round < 2; round++) t.same(await runEveryFlow(flows), statusesOfEveryFlow)

      const keys = await keysOfRequests()
      t.ok(keys.length > 10)
      for (const key of keys) {
        const lifetimeMs = await redis.client.pttl(key)
        t.ok(lifetimeMs > 0 && lifetimeMs <= (longestSec[toKind(key)] ?? 0) * 1000, `${key} has ${lifetimeMs} ms`)
      }
    })
    for (const { name, costs, status = 200, prepare } of costings) {
      const times = ['nothing', 'one round trip', 'two', 'three'][costs[format].length]
      await t.test(`${name} costs ${times} (${format})`, async t => {
        const act = await prepare(flows)

        const trips = await traffic.tripsDuring(async () => t.equal((await act()).status, status))

        t.same(trips, costs[format])
      })
    }
    await t.test(`when everything has expired Redis is as empty as it was (${format})`, async t => {
      for (const key of await keysOfRequests()) await redis.client.pexpire(key, 1)

      await eventually(async () => (await keysOfRequests()).length === 0)
      t.same(await redis.client.hkeys('sidegate:keys'), signingKeys)
    })
  }
})

t.test('with the embedded store', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-cost-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'sidegate.db')

  for (const format of formats) {
    const flows = await startFlows(t, { store: `sqlite:${file}`, tokens: tokensIn(format) })
    const db = new DatabaseSync(file, { timeout: 1000 })
    t.teardown(() => db.close())
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()
    const rowsOfTables = () =>
      tables.map(({ name }) => ({ name, ...db.prepare(`SELECT count(*) AS rows FROM ${name}`).get() }))
    const before = rowsOfTables()

    await t.test(`when everything has expired the file has as many rows as before (${format})`, async t => {
      for (let round = 0; round < 2; round++) t.same(await runEveryFlow(flows), statusesOfEveryFlow)
      t.not(JSON.stringify(rowsOfTables()), JSON.stringify(before))

      for (const { name } of tables) {
        if (name === 'signing_keys') continue
        db.exec(`UPDATE ${name} SET until_ms = until_ms - ${1000 * longest}`)
      }

      await eventually(() => JSON.stringify(rowsOfTables()) === JSON.stringify(before))
    })
  }
})
