import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { type ConnectionOptions, connect } from 'node:tls'
import t, { type Test } from 'tap'
import { createCertificates } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { headerOf, type RawAnswer } from '../support/raw-answer.ts'
import { ask, openConnection } from '../support/raw-client.ts'
import { fieldOf, startCountingUpstream, startStrictUpstream } from '../support/recording-upstream.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../support/sidegate.ts'
import { startWebSocketUpstream } from '../support/websocket-upstream.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'

const certificates = createCertificates(t)
const { ca, client, selfSigned } = certificates
const trust: ConnectionOptions = { ca: ca.cert, servername: 'localhost' }
const asClient: ConnectionOptions = { ...trust, cert: client.cert, key: client.key }

const lines = (line: string, fields: readonly string[], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: gw.test', `Content-Length: ${body.length}`, ...fields, '', body].join('\r\n')

const form = 'grant_type=client_credentials&client_id=app'
const tokenRequest = (...fields: readonly string[]): string =>
  lines('POST /token', ['Content-Type: application/x-www-form-urlencoded', ...fields], form)

const clientCert = `Client-Cert: :${new X509Certificate(client.cert).raw.toString('base64')}:`
const forwardedClientCert = `X-Forwarded-Client-Cert: Hash=ab;Cert="${encodeURIComponent(client.cert)}"`

/** A client `app` that is known by its certificate, and upstreams below `/echo`, `/slow` and `/ws`. */
const start = async (t: Test, upstreams: Readonly<Record<string, string>>, changes: TestConfig) =>
  startSidegate(t, {
    workers: 2,
    plans: { free: { rate: '100000/1second' } },
    groupings: [
      { name: 'OAuth', operations: [{ method: 'POST', path: '/token', serves: 'token' }] },
      ...Object.keys(upstreams).map(name => ({
        name,
        basePath: `/${name}`,
        upstream: name,
        operations: [{ method: 'GET', path: '/**', credentials: 'none', plan: 'none' }],
      })),
    ],
    upstreams: Object.fromEntries(Object.entries(upstreams).map(([name, url]) => [name, { targets: [url] }])),
    clients: [
      {
        client_id: 'app',
        grant_types: ['client_credentials'],
        scope: 'read',
        token_endpoint_auth_method: 'tls_client_auth',
        tls_client_auth_san_dns: 'client.example',
      },
    ],
    ...changes,
  })

/** The serial number of the certificate that a new connection gets. */
const serialAt = async (url: string): Promise<string | undefined> => {
  const socket = connect({ ...trust, host: '127.0.0.1', port: Number(new URL(url).port) })
  await once(socket, 'secureConnect')
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  return certificate?.serialNumber
}

const jsonOf = (answer: RawAnswer): unknown => JSON.parse(answer.body.toString())

t.test('TLS on the traffic listener', async t => {
  const echo = await startStrictUpstream(t)
  const webSocket = await startWebSocketUpstream(t)
  const held: (() => void)[] = []
  const slow = await startCountingUpstream(t, socket => {
    held.push(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone'))
  })
  const own = certificates.issue('own', { san: 'DNS:localhost' })
  const upstreams = { echo: echo.url, ws: webSocket.url, slow: slow.url }
  const gateway = await start(t, upstreams, {
    tls: { cert_file: own.certFile, key_file: own.keyFile, clientCa_file: ca.certFile, clientAuth: 'optional' },
  })
  const { url } = gateway

  await t.test('its first line has the https URL', async t => {
    t.match(url, /^https:/)
  })

  await t.test('a client is known by its certificate, and not without it', async t => {
    t.match(jsonOf(await ask(url, tokenRequest(), 'POST', asClient)), { token_type: 'Bearer' })
    for (const shown of [trust, { ...trust, cert: selfSigned.cert, key: selfSigned.key }]) {
      const refused = await ask(url, tokenRequest(), 'POST', shown)
      t.match({ status: refused.status, body: jsonOf(refused) }, { status: 401, body: { error: 'invalid_client' } })
    }
  })

  await t.test('what a client writes about certificates is worth nothing here', async t => {
    for (const field of [clientCert, forwardedClientCert]) {
      t.match(jsonOf(await ask(url, tokenRequest(field), 'POST', trust)), { error: 'invalid_client' })
    }
  })

  await t.test('the upstream gets plain HTTP with the scheme https of the client', async t => {
    const claims = [
      clientCert,
      forwardedClientCert,
      'Client-Cert-Chain: :YQ==:',
      'X-SSL-Client-Cert: claim',
      'SSL-Client-Verify: SUCCESS',
      'Client_Cert: claim',
      'DPoP: proof',
      'X-Forwarded-Proto: gopher',
    ]

    const answer = await ask(url, lines('GET /echo/a', claims), 'GET', asClient)

    t.equal(answer.status, 200)
    const received = echo.requests.at(-1)
    t.equal(fieldOf(received, 'x-forwarded-proto'), 'https')
    const names = (received?.fields ?? []).map(([name]) => name.toLowerCase())
    t.same(
      names.filter(name => /cert|ssl|dpop/.test(name)),
      [],
    )
  })

  await t.test('a WebSocket is forwarded', async t => {
    const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    const connection = openConnection(t, url, trust).send(lines('GET /ws/chat', [...handshake, key]))
    t.equal(headerOf(await connection.answer(), 'sec-websocket-accept'), 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=')

    connection.send(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]))

    t.equal((await connection.receive(4)).toString('latin1'), '\x81\x02hi')
  })

  await t.test('files that change: every worker has the new certificate, and no connection is cut', async t => {
    const open = openConnection(t, url, trust).send(lines('GET /echo/before', []))
    await open.answer()
    const renewed = certificates.issue('renewed', { san: 'DNS:localhost' })

    copyFileSync(renewed.certFile, own.certFile)
    copyFileSync(renewed.keyFile, own.keyFile)

    await eventually(() => gateway.output.filter(line => line.includes('"certificate_renewed"')).length === 2)
    t.equal(await serialAt(url), new X509Certificate(renewed.cert).serialNumber)
    t.equal((await open.send(lines('GET /echo/after', [])).answer()).status, 200)
    t.notMatch(gateway.output.join('\n'), /certificate_refused/)
  })

  await t.test('the metrics say when the certificate and the CA that are in use expire', async t => {
    const shown = certificates.issue('shown', { san: 'DNS:localhost', days: 3 })
    copyFileSync(shown.certFile, own.certFile)
    copyFileSync(shown.keyFile, own.keyFile)
    const expiryOf = async (use: string): Promise<number> =>
      sumOf(await scrape(gateway.admin), 'sidegate_certificate_expiry_timestamp_seconds', { use, upstream: '' })
    const endOf = (cert: string): number => Math.floor(new X509Certificate(cert).validToDate.getTime() / 1000)

    await eventually(async () => (await expiryOf('listener')) === endOf(shown.cert))
    t.equal(await expiryOf('listener_ca'), endOf(ca.cert))
  })

  await t.test('a worker that dies leaves its connections to another', async t => {
    await killOneWorker(gateway)

    for (let i = 0; i < 20; i++) t.equal((await ask(url, lines('GET /echo/a', []), 'GET', trust)).status, 200)
  })

  await t.test('the end waits for what is in flight', async t => {
    const connection = openConnection(t, url, trust).send(lines('GET /slow/a', []))
    await eventually(() => held.length === 1)

    gateway.kill('SIGINT')
    await eventually(() => gateway.output.some(line => line.includes('"draining"')))
    held[0]?.()

    t.equal((await connection.answer()).body.toString(), 'done')
    t.equal(await gateway.exited, 0)
  })
})

const killOneWorker = async (gateway: RunningSidegate): Promise<void> => {
  const [pid = 0] = gateway.workerPids()
  process.kill(pid, 'SIGKILL')
  await eventually(() => gateway.output.some(line => line.includes('"worker_died"')))
}

t.test('behind a proxy that ends TLS', async t => {
  const head = { workers: 1, trustedProxies: ['127.0.0.1'], clientCertificateHeader: 'x-forwarded-client-cert' }
  const { url } = await start(t, {}, head)

  /** From another address of this machine: 127.0.0.1 is the proxy, 127.0.0.2 is another caller. */
  const statusFrom = async (localAddress: string, ...fields: readonly string[]): Promise<number | undefined> => {
    const headers = Object.fromEntries(fields.map(field => field.split(/: (.*)/s).slice(0, 2)))
    const options = { method: 'POST', localAddress, headers: { ...headers, 'content-type': type } }
    const [answer] = (await once(request(`${url}/token`, options).end(form), 'response')) as [IncomingMessage]
    await text(answer)
    return answer.statusCode
  }
  const type = 'application/x-www-form-urlencoded'

  await t.test('a certificate that the trusted proxy tells is the client', async t => {
    t.equal(await statusFrom('127.0.0.1', forwardedClientCert), 200)
    t.equal(await statusFrom('127.0.0.1', clientCert), 401, 'in a header that was not named')
    t.equal(await statusFrom('127.0.0.1'), 401)
  })

  await t.test('the same header from another address is ignored', async t => {
    t.equal(await statusFrom('127.0.0.2', forwardedClientCert), 401)
  })
})
