import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { findFreePort } from '../support/free-port.ts'
import type { Fields } from './support/post.ts'
import { startOAuth } from './support/running.ts'

t.test('the metadata over real sockets', async t => {
  const { url } = await startOAuth(t)

  await t.test('line 93: the metadata never follow Host or X-Forwarded-Host', async t => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }

    const metadata = await getJson(`${url}/.well-known/oauth-authorization-server`, headers)

    t.match(metadata, { issuer: url, token_endpoint: `${url}/token`, jwks_uri: `${url}/.well-known/jwks.json` })
    t.notMatch(JSON.stringify(metadata), 'evil')
  })
})

/** Unlike `fetch`, sends the Host it is told to. */
const getJson = async (url: string, headers: Fields): Promise<unknown> => {
  const [response] = (await once(request(url, { headers }).end(), 'response')) as [IncomingMessage]
  return JSON.parse(await text(response))
}

t.test('line 93: with a path in the issuer, the well-known part stands between host and path', async t => {
  const listen = `127.0.0.1:${await findFreePort()}`
  const issuer = `http://${listen}/tenant`
  const { url } = await startOAuth(t, { issuer, listen, workers: 1 })

  for (const path of ['/.well-known/oauth-authorization-server/tenant', '/.well-known/oauth-authorization-server']) {
    t.match(await (await fetch(url + path)).json(), { issuer, token_endpoint: `${url}/token` }, path)
  }
  t.equal((await fetch(`${url}/.well-known/oauth-authorization-server/other`)).status, 404)
})
