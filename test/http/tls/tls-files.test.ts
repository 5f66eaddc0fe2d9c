import t from 'tap'
import { handshakeFault } from '../../../src/http/tls/tls-files.ts'
import { certificates, handshake, listen } from '../support/tls-server.ts'

const { issue } = certificates

for (const newKey of ['ec:P-256', 'ec:secp384r1', 'ec:secp521r1', 'ed25519', 'ed448', 'rsa:2048']) {
  t.test(`a handshake comes about with ${newKey}`, async t => {
    const own = issue(newKey.replace(':', '-'), { newKey, san: 'DNS:localhost' })

    t.equal(handshakeFault(own), undefined)
    const { url } = await listen(t, own)
    t.ok(await handshake(t, url))
  })
}

for (const newKey of ['ec:secp256k1', 'ec:brainpoolP256r1']) {
  t.test(`no client takes ${newKey}`, async t => {
    const own = issue(newKey.replace(':', '-'), { newKey, san: 'DNS:localhost' })

    t.match(handshakeFault(own), /^no client takes a key of this kind; use RSA, Ed25519, or ECDSA with P-256/)
    await t.rejects(listen(t, own), /no client takes a key of this kind/)
  })
}

t.test('TLS does not take RSA of 1024 bits', async t => {
  const own = issue('short', { newKey: 'rsa:1024', san: 'DNS:localhost' })

  t.match(handshakeFault(own), /^TLS does not take it \(ee key too small\); use RSA of 2048 bits or more/)
  await t.rejects(listen(t, own), /ee key too small/)
})
