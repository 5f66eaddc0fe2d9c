import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { openConnection } from '../../support/raw-client.ts'
import { sampleOf, scrape, startGateway } from '../support/running.ts'

const certificates = createCertificates(t)
const { ca, server, client, selfSigned } = certificates

/** Answers with the client's certificate, and with the server name and host of the request. */
const whoIsIt: RequestListener = (req, res) => {
  const socket = req.socket as TLSSocket
  const { subject } = socket.getPeerCertificate()
  res.end(JSON.stringify({ peer: subject?.CN, servername: socket.servername, host: req.headers.host }))
}

/** @returns its port; with `requires` the handshake fails without a certificate of the CA */
const startSecure = async (requires = false): Promise<number> => {
  const certificate = { cert: server.cert, key: server.key, ca: ca.cert }
  const secure = createServer({ ...certificate, requestCert: requires, rejectUnauthorized: requires }, whoIsIt)
  secure.on('upgrade', (_req, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nhello'),
  )
  secure.listen(0, '127.0.0.1')
  await once(secure, 'listening')
  t.teardown(() => {
    secure.closeAllConnections()
    secure.close()
  })
  return (secure.address() as AddressInfo).port
}

const get = (path: string, ...fields: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n')

t.test('upstreams are spoken to over TLS, and known by their certificates', async t => {
  const port = await startSecure()
  const strict = await startSecure(true)
  const here = [`https://127.0.0.1:${port}`]
  const trust = { ca_file: ca.certFile }
  const own = { cert_file: client.certFile, key_file: client.keyFile }
  const upstreams = {
    trusted: { targets: here, tls: trust },
    named: { targets: [`https://localhost:${port}`], tls: trust },
    renamed: { targets: here, tls: { ...trust, servername: 'localhost' } },
    known: { targets: [`https://127.0.0.1:${strict}`], tls: { ...trust, ...own } },
    unknown: { targets: [`https://127.0.0.1:${strict}`], tls: trust },
    public: { targets: here },
    otherCa: { targets: here, tls: { ca_file: selfSigned.certFile } },
    otherName: { targets: here, tls: { ...trust, servername: 'other.test' } },
  }
  const gateway = await startGateway(t, Object.fromEntries(Object.keys(upstreams).map(name => [name, ''])), {
    upstreams,
  })
  const ask = (path: string, ...fields: readonly string[]) =>
    openConnection(t, gateway.url)
      .send(get(path, ...fields))
      .answer()
  const told = async (path: string): Promise<unknown> => JSON.parse((await ask(path)).body.toString())

  await t.test('by the address, or by a name, which is checked first', async t => {
    t.match(await told('/trusted/x'), { servername: false, host: `127.0.0.1:${port}` })
    t.match(await told('/named/x'), { servername: 'localhost', host: `localhost:${port}` })
    t.match(await told('/renamed/x'), { servername: 'localhost', host: `127.0.0.1:${port}` })
  })

  await t.test('we are known by ours, where one is asked for', async t => {
    t.match(await told('/known/x'), { peer: 'client' })
    t.equal((await ask('/unknown/x')).status, 502)
  })

  await t.test('a server whose certificate is not verified, or has another name, is 502', async t => {
    for (const name of ['public', 'otherCa', 'otherName']) {
      const refused = await ask(`/${name}/x`)

      t.match(JSON.parse(refused.body.toString()), { status: 502, code: 'UPSTREAM_UNREACHABLE' }, name)
      t.ok(sampleOf(await scrape(gateway), 'sidegate_upstream_errors_total', `"${name}"`, '"connect"') > 0, name)
    }
  })

  await t.test('the log says once what is wrong with each', async t => {
    await ask('/otherName/x')
    await ask('/trusted/x')
    const linesOf = (name: string) =>
      gateway.output.flatMap(line =>
        line.includes('"upstream_unreachable"') && line.includes(`"${name}"`) ? [JSON.parse(line)] : [],
      )
    await eventually(() => linesOf('otherName').length > 0 && linesOf('unknown').length > 0)

    t.match(linesOf('public'), [{ level: 'warn', address: `127.0.0.1:${port}`, code: /CERT|SIGNATURE|ISSUER/ }])
    t.match(linesOf('otherCa'), [{ code: /CERT|SIGNATURE|ISSUER/ }])
    const [wrongName, ...again] = linesOf('otherName')
    t.match(wrongName, {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      reason: /^Host: other\.test\. is not in the cert's altnames/,
    })
    t.same(again, [])
    t.match(linesOf('unknown'), [{ code: /^ERR_SSL_/, reason: /certificate required/ }])
    t.same(linesOf('trusted'), [])
  })

  await t.test('WebSockets go the same way', async t => {
    const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='

    t.equal((await ask('/known/x', ...handshake, key)).status, 101)
    t.equal((await ask('/otherCa/x', ...handshake, key)).status, 502)
  })
})
