import { eventually } from '../../support/eventually.ts'
import { fetchFreshMetrics } from '../../support/fresh-metrics.ts'
import { ask, openConnection } from '../../support/raw-client.ts'
import { basic } from '../support/authorization-server.ts'
import { type Posted, post, send } from '../support/post.ts'
import { onEachStore } from './support/each-store.ts'

const grant = { grant_type: 'client_credentials' }
const invalidRequest = { status: 400, body: { error: 'invalid_request' } }
const resource = 'https://api.example/accounts'

const setup = () => ({
  clients: [
    client('app', { introspects: [resource] }),
    client('narrow', { grant_types: ['authorization_code'] }),
    client('opaque'),
  ],
})

const client = (client_id: string, changes: object = {}): object => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['client_credentials', 'refresh_token'],
  redirect_uris: ['https://client.example/callback'],
  scope: 'read write',
  ...changes,
})

onEachStore('A. Token endpoint basics', setup, async (t, { url, gateway }) => {
  const endpoint = `${url}/token`
  const asApp = (body: string, written: object = {}): Promise<Posted> => send(endpoint, { as: 'app', body, ...written })
  const form = 'grant_type=client_credentials'

  await t.test('GET gets 405 with Allow: POST and no token (RFC 6749 section 3.2; checklist 1)', async t => {
    const refused = await send(`${endpoint}?${form}`, { method: 'GET', as: 'app', type: undefined })

    t.equal(refused.status, 405)
    t.equal(refused.headers.get('allow'), 'POST')
    t.notOk(refused.body.access_token)
    t.equal((await asApp(form)).status, 200)
  })

  await t.test(
    'a body that is not form-encoded is an invalid_request, a charset is accepted (RFC 6749 section 3.2; checklist 2)',
    async t => {
      const json = '{"grant_type":"client_credentials"}'
      const multipart =
        '--x\r\ncontent-disposition: form-data; name="grant_type"\r\n\r\nclient_credentials\r\n--x--\r\n'

      t.match(await asApp(json, { type: 'application/json' }), invalidRequest)
      t.match(await asApp(multipart, { type: 'multipart/form-data; boundary=x' }), invalidRequest)
      t.match(await asApp(form, { type: 'text/plain' }), invalidRequest)
      t.match(await asApp(form, { type: undefined }), invalidRequest)
      t.match(await send(endpoint, { as: 'app', type: undefined }), invalidRequest)
      t.match(await asApp(form, { type: 'application/x-www-form-urlencodedx' }), invalidRequest)
      t.match(await asApp(form, { type: 'application/x-www-form-urlencoded; charset=UTF-8' }), { status: 200 })
      t.match(await asApp(form, { type: 'Application/X-WWW-Form-URLencoded;charset=utf-8' }), { status: 200 })
    },
  )

  await t.test(
    'a parameter that is sent twice is an invalid_request, in the body or in the query (RFC 6749 section 3.2; checklist 3)',
    async t => {
      t.match(await asApp(`${form}&${form}`), invalidRequest)
      t.match(await asApp(`${form}&scope=read&scope=read`), invalidRequest)
      t.match(await asApp(`${form}&unknown=1&unknown=2`), invalidRequest)
      t.match(await send(`${endpoint}?${form}`, { as: 'app', body: form }), invalidRequest)
      t.match(await send(`${endpoint}?scope=read`, { as: 'app', body: `${form}&scope=read` }), invalidRequest)
      t.match(await asApp(`${form}&scope=read`), { status: 200 })
    },
  )

  await t.test('resource may be repeated (RFC 6749 section 3.2; checklist 3)', async t => {
    const twice = `&resource=${encodeURIComponent(resource)}&resource=${encodeURIComponent(resource)}`

    t.match(await asApp(`${form}${twice}`), { status: 200 })
  })

  await t.test(
    'an empty parameter counts as absent, and an unknown one is ignored (RFC 6749 section 3.2; checklist 4)',
    async t => {
      t.match(await asApp(`${form}&scope=&resource=&unknown=value`), { status: 200, body: { scope: 'read write' } })
      t.match(await asApp('grant_type='), invalidRequest)
    },
  )

  await t.test(
    'a secret in the query string is refused, and is in no log line and no metric (RFC 6749 section 2.3.1; checklist 5)',
    async t => {
      for (const name of ['client_secret', 'code', 'refresh_token', 'client_assertion']) {
        const refused = await send(`${endpoint}?${name}=s3cr3t-in-url`, { as: 'app', body: form })
        t.match(refused, invalidRequest, name)
        t.notMatch(refused.text, /s3cr3t/, name)
      }
      await post(`${endpoint}?after=them`, grant, 'app', { 'x-request-id': 'after' })

      await eventually(() => gateway.output.filter(line => line.includes('"path":"/token","status":400')).length >= 4)
      t.notMatch(gateway.output.join('\n'), /s3cr3t-in-url/)
      t.notMatch(await (await fetchFreshMetrics(gateway.admin)).text(), /s3cr3t-in-url/)
    },
  )

  await t.test(
    'a successful response is 200 with JSON and no-store, a numeric lifetime and the scope (RFC 6749 section 5.1; checklist 6)',
    async t => {
      for (const scope of [{}, { scope: 'read' }, { scope: 'read write' }]) {
        const { status, headers, body } = await post(endpoint, { ...grant, ...scope }, 'app')
        t.equal(status, 200)
        t.match(headers.get('content-type'), /^application\/json(;|$)/)
        t.equal(headers.get('cache-control'), 'no-store')
        t.type(body.expires_in, 'number')
        t.equal(body.scope, scope.scope ?? 'read write')
        t.equal(body.token_type, 'Bearer')
      }
    },
  )

  await t.test(
    'every error response of the endpoints for clients is JSON with no-store (RFC 6749 section 5.2; checklist 7)',
    async t => {
      for (const path of ['/token', '/introspect', '/revoke', '/par']) {
        const refusals = [
          await send(url + path, { as: 'app', body: '' }),
          await send(url + path, { as: 'app', body: '{}', type: 'application/json' }),
          await post(url + path, { client_id: 'app', client_secret: 'wrong' }),
          await send(url + path, { as: 'app', body: 'x'.repeat(70_000) }),
          await send(url + path, { method: 'PUT', as: 'app', body: form }),
        ]
        for (const { status, headers, body } of refusals) {
          t.ok(status >= 400 && status < 500, `${path} ${status}`)
          t.match(headers.get('content-type'), /^application\/json(;|$)/)
          t.equal(headers.get('cache-control'), 'no-store')
          t.type(body.error, 'string')
        }
      }
    },
  )

  await t.test(
    'an error_description has only the allowed characters and repeats no input (RFC 6749 section 5.2; checklist 8)',
    async t => {
      for (const sent of ['"quoted"', 'back\\slash', 'line\r\nbreak', 'emoji \u{1f600}', 'UMLAUTÄÖÜ', '<script>']) {
        for (const fields of [{ grant_type: sent }, { ...grant, scope: sent }, { ...grant, resource: sent }]) {
          const { status, body } = await post(endpoint, fields, 'app')
          t.equal(status, 400)
          t.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
          t.notOk(String(body.error_description).includes(sent))
        }
      }
    },
  )

  await t.test(
    'a missing, an unknown and an unregistered grant type are three different errors (RFC 6749 section 5.2; checklist 9)',
    async t => {
      t.match(await post(endpoint, { scope: 'read' }, 'app'), invalidRequest)
      for (const grant_type of ['magic', 'Client_credentials', 'client_credentials ']) {
        t.match(await post(endpoint, { grant_type }, 'app'), { status: 400, body: { error: 'unsupported_grant_type' } })
      }
      t.match(await post(endpoint, grant, 'narrow'), { status: 400, body: { error: 'unauthorized_client' } })
    },
  )

  await t.test('the password grant is not supported (RFC 9700 section 2.4; checklist 10)', async t => {
    const fields = { grant_type: 'password', username: 'alice', password: 'wonderland' }

    for (const as of ['app', 'narrow']) {
      t.match(await post(endpoint, fields, as), { status: 400, body: { error: 'unsupported_grant_type' } })
    }
  })

  await t.test('concurrent refusals do not mix (checklist 11)', async t => {
    const asked = Array.from({ length: 60 }, (_, i) => {
      const [fields, as, error] = [
        [{ grant_type: 'magic' }, 'app', 'unsupported_grant_type'],
        [{ ...grant, scope: 'none' }, 'opaque', 'invalid_scope'],
        [grant, 'narrow', 'unauthorized_client'],
      ][i % 3] as [Readonly<Record<string, string>>, string, string]
      return post(endpoint, fields, as).then(
        ({ body, text }) => body.error === error && !/app|opaque|narrow/.test(text),
      )
    })

    t.notOk((await Promise.all(asked)).includes(false))
  })

  await t.test(
    'a body above the limit gets 413, with or without a Content-Length (RFC 9126 section 2.3; checklist 12)',
    async t => {
      const head = `POST /token HTTP/1.1\r\nHost: gw\r\nAuthorization: ${basic('app', 'app-secret')}\r\n`
      const typed = `${head}Content-Type: application/x-www-form-urlencoded\r\n`
      const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`

      t.match(await asApp(`${form}&x=${'x'.repeat(65_536)}`), { status: 413, body: { error: 'invalid_request' } })
      t.equal((await ask(url, `${typed}Content-Length: 100000\r\n\r\n`, 'POST')).status, 413)
      t.equal((await ask(url, `${typed}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(3)}`, 'POST')).status, 413)
      t.equal((await asApp(`${form}&x=${'x'.repeat(65_000)}`)).status, 200)
    },
  )

  await t.test('slow bodies do not delay other requests (RFC 9126 section 2.3; checklist 12)', async t => {
    const typed = 'POST /token HTTP/1.1\r\nHost: gw\r\nContent-Type: application/x-www-form-urlencoded\r\n'
    const slow = Array.from({ length: 50 }, () =>
      openConnection(t, url).send(`${typed}Content-Length: 100\r\n\r\ngrant`),
    )

    t.equal((await asApp(form)).status, 200)
    t.ok(slow.every(({ state, received }) => state === 'open' && received.length === 0))
  })
})
