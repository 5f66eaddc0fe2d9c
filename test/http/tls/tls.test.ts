import { once } from 'node:events'
import { connect } from 'node:net'
import { duplexPair, pipeline } from 'node:stream'
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls'
import t from 'tap'
import { defaultHttpServerOptions } from '../../../src/http/server/options.ts'
import { openConnection } from '../../support/raw-client.ts'
import { certificates, handshake, listen, request, trust, whoAmI } from '../support/tls-server.ts'

const { ca, client, selfSigned } = certificates

t.test('a request over TLS is answered, and a client is not asked for a certificate', async t => {
  const { url } = await listen(t)

  t.equal(await whoAmI(t, url), 'nobody')
  t.equal(await whoAmI(t, url, client), 'nobody')
})

t.test('TLS 1.2 has forward secrecy and AEAD alone, and nothing is older', async t => {
  const { url } = await listen(t)
  const agreed = async (options: ConnectionOptions) =>
    handshake(t, url, options).then(
      socket => `${socket.getProtocol()} ${socket.getCipher().standardName}`,
      () => 'refused',
    )

  t.equal(await agreed({}), 'TLSv1.3 TLS_AES_128_GCM_SHA256')
  t.equal(await agreed({ maxVersion: 'TLSv1.2' }), 'TLSv1.2 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256')
  for (const ciphers of ['ECDHE-ECDSA-AES128-SHA256', 'AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305']) {
    t.equal(await agreed({ maxVersion: 'TLSv1.2', ciphers }), 'refused', ciphers)
  }
  const old: ConnectionOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }
  t.equal(await agreed(old), 'refused')
})

t.test('HTTP/1.1 is what it speaks: HTTP/2 is not agreed to', async t => {
  const { url } = await listen(t)

  t.equal((await handshake(t, url, { ALPNProtocols: ['h2', 'http/1.1'] })).alpnProtocol, 'http/1.1')
  t.equal((await handshake(t, url)).alpnProtocol, false)
  await t.rejects(handshake(t, url, { ALPNProtocols: ['h2'] }))
})

t.test('no session is resumed, so that a certificate is proven each time', async t => {
  const { url } = await listen(t)
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = await handshake(t, url, { maxVersion })
    const session = await new Promise<Buffer | undefined>(resolve => {
      first.once('session', resolve)
      first.once('close', () => resolve(first.getSession()))
      first.end()
      first.resume()
    })

    const second = await handshake(t, url, { maxVersion, ...(session && { session }) })
    t.notOk(second.isSessionReused(), maxVersion)
  }
})

t.test('a failed handshake is counted as dropped, a client that leaves before it is not', async t => {
  const { url, drops } = await listen(t)
  const { port } = new URL(url)
  const plain = openConnection(t, `http://127.0.0.1:${port}`).send(request)
  await plain.ended()
  const gone = openConnection(t, `http://127.0.0.1:${port}`)
  gone.reset()
  t.equal(await whoAmI(t, url), 'nobody')

  t.same(drops, ['tls'])
})

t.test('renegotiation is refused', async t => {
  const { url } = await listen(t)
  const socket = await handshake(t, url, { maxVersion: 'TLSv1.2' })

  const outcome = await new Promise(resolve => {
    socket.once('error', resolve)
    socket.renegotiate({}, error => resolve(error ?? 'renegotiated'))
  })

  t.match(outcome, { code: 'ERR_SSL_NO_RENEGOTIATION' })
})

t.test('clientAuth optional: a certificate is seen with whether a CA vouches for it', async t => {
  const { url } = await listen(t, { clientAuth: 'optional', clientCaFile: ca.certFile })

  t.equal(await whoAmI(t, url), 'nobody')
  t.equal(await whoAmI(t, url, client), 'CN=client true')
  t.equal(await whoAmI(t, url, selfSigned), 'CN=self-signed false')
  t.equal(await whoAmI(t, url, certificates.issue('old', { usage: 'clientAuth', days: -1 })), 'CN=old false')
  t.equal(await whoAmI(t, url, certificates.issue('wrong', { usage: 'serverAuth' })), 'CN=wrong false')
})

t.test('without a CA for clients no client certificate is verified', async t => {
  const { url } = await listen(t, { clientAuth: 'optional' })

  t.equal(await whoAmI(t, url, client), 'CN=client false')
})

t.test('clientAuth required: without a certificate of the CA there is no connection', async t => {
  const { url, seen } = await listen(t, { clientAuth: 'required', clientCaFile: ca.certFile })

  t.equal(await whoAmI(t, url, client), 'CN=client true')
  t.equal(await whoAmI(t, url), 'no answer')
  t.equal(await whoAmI(t, url, selfSigned), 'no answer')
  t.equal(await whoAmI(t, url, certificates.issue('late', { usage: 'clientAuth', days: -1 })), 'no answer')
  t.same(seen, [], 'a handshake that failed is no request')
})

t.test('a client that never shakes hands, or stops in the middle of it, is cut off', async t => {
  const { url, drops } = await listen(t, {}, { ...defaultHttpServerOptions, headersTimeoutMs: 100 })
  const silent = openConnection(t, url.replace('https', 'http'))
  const hello = Buffer.from([22, 3, 1])
  const half = openConnection(t, url.replace('https', 'http')).send(hello)

  t.not(await silent.ended(), 'open')
  t.not(await half.ended(), 'open')
  t.same(drops.toSorted(), ['timeout', 'tls'])
})

t.test('a handshake that comes in pieces is one', async t => {
  const { url, drops } = await listen(t)
  const [near, far] = duplexPair()
  const raw = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay()
  t.teardown(() => raw.destroy())
  raw.pipe(far)
  const inPieces = async function* (sent: AsyncIterable<Buffer>) {
    for await (const bytes of sent) {
      for (const piece of [bytes.subarray(0, 1), bytes.subarray(1, 5), bytes.subarray(5)]) {
        yield piece
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    }
  }
  pipeline(far, inPieces, raw, () => undefined)
  const socket = connectSecurely({ socket: near, ...trust })
  await once(socket, 'secureConnect')
  socket.write(request)
  const [answer] = (await once(socket, 'data')) as [Buffer]

  t.match(answer.toString(), /^HTTP\/1.1 200 /)
  t.same(drops, [])
})

t.test('a header that does not come in time is 408 over TLS too', async t => {
  const { url, seen } = await listen(t, {}, { ...defaultHttpServerOptions, headersTimeoutMs: 300 })
  const connection = openConnection(t, url, trust).send('GET / HTTP/1.1\r\nHost: gw')

  t.equal((await connection.answer()).status, 408)
  t.same(seen, ['REQUEST_TIMEOUT'])
})

t.test('plain HTTP on the TLS port is closed, and other clients are not affected', async t => {
  const { url, seen } = await listen(t)
  const connection = openConnection(t, url.replace('https', 'http')).send(request)

  t.not(await connection.ended(), 'open')
  t.equal(await whoAmI(t, url), 'nobody')
  t.same(seen, [])
})

t.test('a WebSocket handshake works over TLS', async t => {
  const { url } = await listen(t)
  const bytes = 'GET / HTTP/1.1\r\nHost: gw.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

  t.equal((await openConnection(t, url, trust).send(bytes).answer()).status, 101)
})
