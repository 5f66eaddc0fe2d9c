import { eventually } from '../../support/eventually.ts'
import { fetchFreshMetrics } from '../../support/fresh-metrics.ts'
import { ask } from '../../support/raw-client.ts'
import type { RunningSidegate } from '../../support/sidegate.ts'
import { basic } from '../support/authorization-server.ts'
import { type Fields, type Posted, post, send } from '../support/post.ts'
import { operations } from '../support/running.ts'
import { claimsOf } from './support/access-tokens.ts'
import { confidentialClient, publicClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'

/** No other text of the run equals it, so that any occurrence in the output is a leak. */
const secret = 'kept-to-itself-5e81c7'
const wrongSecret = 'guessed-at-5e81c7'
const wellKnown = '/.well-known/oauth-authorization-server'

/** The test itself is a trusted proxy. */
const setup = () => ({
  workers: 2,
  trustedProxies: ['127.0.0.1'],
  groupings: [
    { name: 'OAuth', operations },
    {
      name: 'Metadata',
      basePath: '/v1/metadata',
      operations: [{ method: 'GET', path: '/oauth2', serves: 'metadata', credentials: 'query' }],
    },
  ],
  clients: [confidentialClient('app', { client_secret: secret }), publicClient('spa')],
})

const textOf = ({ body }: { readonly body: Buffer }): string => body.toString()

/** The whole output of the gateway, as soon as it contains this text. */
const outputWith = async ({ output }: RunningSidegate, text: string): Promise<string> => {
  await eventually(() => output.some(line => line.includes(text)))
  return output.join('\n')
}

onEachStore('J. Metadata', setup, async (t, { url, gateway, beside, stored }) => {
  const getRaw = (path: string, ...lines: readonly string[]) =>
    ask(url, [`GET ${path} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'))

  const issuer = `${url}/tenant/one`
  const tenant = await beside({
    issuer,
    groupings: [{ name: 'Small', operations: operations.filter(({ serves }) => /^(token|discovery)$/.test(serves)) }],
    clients: [confidentialClient('app', { scope: '', grant_types: ['client_credentials'] })],
  })

  await t.test(
    'the metadata need no credentials, and their issuer is the issuer of every token (RFC 8414 section 3; checklist 93)',
    async t => {
      const { status, headers, body } = await send(url + wellKnown, { method: 'GET', type: undefined })

      t.equal(status, 200)
      t.match(headers.get('content-type'), /^application\/json(;|$)/)
      t.equal(body.issuer, url)
      const issued = await post(String(body.token_endpoint), { grant_type: 'client_credentials' }, undefined, {
        authorization: basic('app', secret),
      })
      t.equal(claimsOf(issued.body.access_token).iss, url)
    },
  )

  await t.test(
    'the metadata follow neither Host nor the headers of a trusted proxy (RFC 8414 section 3; checklist 93)',
    async t => {
      const host = new URL(url).host
      const plain = textOf(await getRaw(wellKnown, `Host: ${host}`))
      const headers: readonly (readonly string[])[] = [
        ['Host: evil.example'],
        [`Host: ${host}`, 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https'],
        [`Host: ${host}`, 'Forwarded: host=evil.example;proto=https'],
        [`Host: ${host}`, 'X-Original-URL: /evil', 'X-Forwarded-Prefix: /evil'],
      ]
      t.match(JSON.parse(plain), { issuer: url })
      for (const lines of headers) t.equal(textOf(await getRaw(wellKnown, ...lines)), plain, lines.join())
    },
  )

  await t.test(
    'with a path in the issuer, the well-known part stands between host and path (RFC 8414 section 3; checklist 93)',
    async t => {
      const { status, body } = await send(`${tenant.url}${wellKnown}/tenant/one`, { method: 'GET', type: undefined })

      t.equal(status, 200)
      t.equal(body.issuer, issuer)
      for (const path of [
        `${wellKnown}/tenant`,
        `${wellKnown}/tenant/one/`,
        `${wellKnown}/tenant/two`,
        `/tenant/one${wellKnown}`,
      ]) {
        t.equal((await send(tenant.url + path, { method: 'GET', type: undefined })).status, 404, path)
      }
    },
  )

  await t.test(
    'a member without an endpoint or without entries is left out (RFC 8414 section 2; checklist 94)',
    async t => {
      for (const at of [url, tenant.url]) {
        const { body } = await send(at + wellKnown, { method: 'GET', type: undefined })
        for (const [name, value] of Object.entries(body)) {
          t.ok(value !== null && value !== '' && (value as { readonly length?: number }).length !== 0, name)
        }
      }
      const { body } = await send(tenant.url + wellKnown, { method: 'GET', type: undefined })
      const named = Object.keys(body).filter(name => !name.startsWith('token_endpoint'))
      t.same(named.toSorted(), ['dpop_signing_alg_values_supported', 'grant_types_supported', 'issuer'])
    },
  )

  const guarded = `${url}/v1/metadata/oauth2`
  const askFor = (fields: Fields, headers: Fields = {}): Promise<Posted> =>
    send(`${guarded}?${new URLSearchParams(fields)}`, { method: 'GET', type: undefined, headers })

  await t.test(
    'the metadata operation accepts credentials in the query or by Basic (RFC 6749 section 2.3.1; checklist 95)',
    async t => {
      const discovered = await send(url + wellKnown, { method: 'GET', type: undefined })
      const answers = [
        await askFor({ client_id: 'app', client_secret: secret }),
        await askFor({}, { authorization: basic('app', secret) }),
      ]
      for (const { status, headers, text } of answers) {
        t.equal(status, 200)
        t.equal(text, discovered.text)
        t.equal(headers.get('cache-control'), 'no-store')
      }
      const both = await askFor({ client_id: 'app', client_secret: secret }, { authorization: basic('app', secret) })
      t.match(both, { status: 400, body: { error: 'invalid_request' } })
    },
  )

  await t.test(
    'wrong and missing credentials get 401 with the same bytes (RFC 6749 section 2.3.1; checklist 95)',
    async t => {
      const refusals = [
        await askFor({}),
        await askFor({ client_id: 'app' }),
        await askFor({ client_id: 'app', client_secret: wrongSecret }),
        await askFor({ client_id: 'app', client_secret: `${secret}x` }),
        await askFor({ client_id: 'nobody', client_secret: secret }),
        await askFor({ client_id: 'spa', client_secret: secret }),
        await askFor({}, { authorization: basic('app', wrongSecret) }),
        await askFor({}, { authorization: basic('nobody', secret) }),
      ]
      for (const { status, headers, text } of refusals) {
        t.equal(status, 401)
        t.equal(text, refusals[0]?.text)
        t.equal(headers.get('cache-control'), 'no-store')
        t.match(headers.get('www-authenticate'), /^Basic realm=/)
      }
    },
  )

  await t.test('no secret of a request is in any output of the run (RFC 6749 section 2.3.1; checklist 95)', async t => {
    await send(`${url}/after-the-run`, { method: 'GET', type: undefined })

    const places = {
      output: await outputWith(gateway, '/after-the-run'),
      metrics: await (await fetchFreshMetrics(gateway.admin)).text(),
      store: await stored(),
    }
    for (const [place, text] of Object.entries(places)) t.notMatch(text, /5e81c7/, place)
    t.match(places.output, /"path":"\/v1\/metadata\/oauth2"/)
  })
})
