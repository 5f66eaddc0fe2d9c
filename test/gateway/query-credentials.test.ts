import t from 'tap'
import { hasSecretParameter, withoutCredentials } from '../../src/gateway/authn/query-credentials.ts'
import { ask, openConnection } from '../support/raw-client.ts'
import { fieldOf, startCountingUpstream } from '../support/recording-upstream.ts'
import { clientSecret, scrape, startGateway } from './support/running.ts'

t.test('credentials are cut out of a query, the rest keeps its order and encoding', async t => {
  const cases: readonly (readonly [before: string, after: string])[] = [
    ['client_id=a&client_secret=s&x=1', 'x=1'],
    ['x=%31+2&client_id=a&y&=&client_secret=s&x=3', 'x=%31+2&y&=&x=3'],
    ['client%5Fsecret=s&a=1', 'a=1'],
    ['CLIENT_SECRET=s&a=1', 'a=1'],
    ['client_secret[]=s&a=1', 'a=1'],
    ['client_secret%5B0%5D=s&a=1', 'a=1'],
    ['a=1;client_secret=s&b=2', 'b=2'],
    ['access_token=s&client_assertion=s', ''],
    ['?client_id=a&%00client_secret=s&a=1', 'a=1'],
    ['xclient_secret=1&client_secretx=2', 'xclient_secret=1&client_secretx=2'],
    ['', ''],
  ]

  for (const [before, after] of cases) t.equal(withoutCredentials(before), after, before)
})

t.test('a secret in a query is seen in every spelling of its name', async t => {
  for (const query of [
    'client_secret=s',
    'a=1&access_token=s',
    'client%5fsecret=s',
    'Client_Secret=s',
    'a;client_secret=s',
    'client_secret%00=s',
    '%00client_secret=s',
    'client%5Fsecret%=s',
    'client_secret%zz=s&client%5Fsecret%c3=s',
    '?client_secret=s',
    '%c2%a0client_secret+=s',
    '%3Fclient_secret%5B%5D=s',
  ]) {
    t.ok(hasSecretParameter(query), query)
  }
  for (const query of [
    '',
    'client_id=a',
    'a=client_secret',
    'my_client_secret=s',
    'token=s',
    '%00=client_secret',
    '?a=1',
  ]) {
    t.notOk(hasSecretParameter(query), query)
  }
})

t.test(
  'query credentials open their operation and never leave the gateway (RFC 6749 section 2.3.1; checklist G01, G02, G03)',
  async t => {
    const upstream = await startCountingUpstream(t)
    const gateway = await startGateway(t, { up: upstream.url })
    const { url } = gateway
    const get = (target: string, ...lines: readonly string[]) =>
      ask(url, [`GET ${target} HTTP/1.1`, 'Host: gw.test', ...lines, '', ''].join('\r\n'))
    const proof = `client_id=app&client_secret=${clientSecret}`

    await t.test(
      'the upstream sees the rest of the query, in order, as it was encoded (RFC 6749 section 2.3.1; checklist G01)',
      async t => {
        t.equal((await get(`/up-query/meta?${proof}&x=1`)).status, 200)
        t.equal(upstream.requests.at(-1)?.target, '/up-query/meta?x=1')
        t.equal((await get(`/up-query/meta?b=%7E&client_id=app&a=+&client%5Fsecret=${clientSecret}&b=2`)).status, 200)
        t.equal(upstream.requests.at(-1)?.target, '/up-query/meta?b=%7E&a=+&b=2')
        t.equal(fieldOf(upstream.requests.at(-1), 'x-sidegate-client-id'), 'app')
        t.equal((await get(`/up-query/meta?${proof}`)).status, 200)
        t.equal(upstream.requests.at(-1)?.target, '/up-query/meta')
      },
    )

    await t.test('HTTP Basic serves as well, and stays at the gateway', async t => {
      const basic = `Authorization: Basic ${btoa(`app:${clientSecret}`)}`

      t.equal((await get('/up-query/meta?x=1', basic)).status, 200)
      t.equal(fieldOf(upstream.requests.at(-1), 'authorization'), undefined)
      t.equal((await get(`/up-query/meta?${proof}`, basic)).status, 400)
    })

    await t.test(
      'what is not exactly the credential, once, is refused (RFC 6749 section 2.3.1; checklist G02)',
      async t => {
        const before = upstream.requests.length
        const cases: readonly (readonly [query: string, status: number])[] = [
          [`client_id=app&CLIENT_SECRET=${clientSecret}`, 401],
          [`client_id=app&client_secret[]=${clientSecret}`, 401],
          [`client_id=app;client_secret=${clientSecret}`, 401],
          [`${proof}&client_secret=${clientSecret}`, 400],
          [`${proof}&client%5Fsecret=${clientSecret}`, 400],
          [`${proof}&client_id=app`, 400],
          [`client_id=app&client_secret=${clientSecret}x`, 401],
          [`client_id=nobody&client_secret=${clientSecret}`, 401],
          [`client_secret=${clientSecret}`, 401],
          ['', 401],
        ]

        for (const [query, status] of cases) {
          const refused = await get(`/up-query/meta?${query}`)
          t.equal(refused.status, status, query)
          t.notMatch(refused.body.toString(), clientSecret)
        }
        t.equal(upstream.requests.length, before)
      },
    )

    await t.test(
      'on another operation they are refused, also without authentication (RFC 6749 section 2.3.1; checklist G03)',
      async t => {
        const before = upstream.requests.length

        for (const target of ['/up-guarded/x', '/up/x', '/nowhere']) {
          for (const query of [proof, `client_id=app&CLIENT%5FSECRET=${clientSecret}`]) {
            const { status } = await get(`${target}?${query}`)
            t.ok(target === '/nowhere' ? status === 404 : status === 400 || status === 401, `${target}: ${status}`)
          }
        }
        t.equal(upstream.requests.length, before)
      },
    )

    await t.test('the secret is in no log line, no metric and nothing that went upstream (checklist I5)', async t => {
      openConnection(t, url).send(`GET /up/x?client_secret=${clientSecret} HTTP/9.9\r\n\r\n`)
      await get(`/up-query/meta?${proof}`, `Referer: http://gw.test/up-query/meta?${proof}`)

      t.notMatch(JSON.stringify(upstream.requests), clientSecret)
      t.notMatch(await scrape(gateway), clientSecret)
      t.notMatch(gateway.output.join('\n'), clientSecret)
    })
  },
)
