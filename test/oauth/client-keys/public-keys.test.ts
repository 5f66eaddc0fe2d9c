import { createPublicKey } from 'node:crypto'
import t from 'tap'
import { parseJws } from '../../../src/oauth/client-keys/jws.ts'
import { findSignatureFault, toPublicKeys } from '../../../src/oauth/client-keys/public-keys.ts'
import { rsaJwk } from '../../support/rsa-jwk.ts'
import { bareJwk, newKey, signJws, type TestKey } from '../fapi/support/jws.ts'

const signedBy = (key: TestKey, kid?: string) => {
  const jws = parseJws(signJws({ alg: key.alg, kid }, { sub: 'app' }, key))
  if ('fault' in jws) throw new TypeError(jws.fault)
  return jws
}

t.test('an RSA key is accepted with 2048 to 4096 bits and an exponent of at most 32 bits', async t => {
  for (const [jwk, taken] of [
    [rsaJwk(2047), 0],
    [rsaJwk(2048), 1],
    [rsaJwk(4096), 1],
    [rsaJwk(4097), 0],
    [rsaJwk(16_384), 0],
    [rsaJwk(2048, Buffer.from('ffffffff', 'hex')), 1],
    [rsaJwk(2048, Buffer.from('0100000001', 'hex')), 0],
  ] as const) {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' })
    const told = `${asymmetricKeyDetails?.modulusLength} bits, exponent ${asymmetricKeyDetails?.publicExponent}`
    t.equal(toPublicKeys({ keys: [jwk] }).length, taken, told)
  }
})

t.test('the first 20 usable keys of a set are kept', async t => {
  const ours = Array.from({ length: 21 }, (_, nth) => newKey('EdDSA', `key-${nth}`))
  const unusable = { kty: 'oct', k: 'c2VjcmV0' }

  const keys = toPublicKeys({ keys: [unusable, ...ours.map(({ publicJwk }) => ({ ...publicJwk }))] })

  t.same(
    keys.map(({ kid }) => kid),
    ours.slice(0, 20).map(({ kid }) => kid),
  )
})

t.test('a signature is tried with four keys at most; a kid names the right one among any number', async t => {
  const [signer, ...others] = Array.from({ length: 8 }, () => newKey('ES256'))
  if (!signer) throw new TypeError('no key')
  const nameless = others.map(key => ({ ...bareJwk(key) }))
  const setWith = (before: number, own: object) => toPublicKeys({ keys: nameless.toSpliced(before, 0, { ...own }) })

  t.equal(findSignatureFault(setWith(3, bareJwk(signer)), signedBy(signer)), undefined, 'the fourth')
  t.equal(findSignatureFault(setWith(4, bareJwk(signer)), signedBy(signer)), 'signature', 'the fifth')
  t.equal(findSignatureFault(setWith(7, { ...bareJwk(signer), kid: 'own' }), signedBy(signer, 'own')), undefined)
  t.equal(findSignatureFault(setWith(7, { ...bareJwk(signer), kid: 'own' }), signedBy(signer, 'other')), 'signature')
})

t.test('only keys that fit the algorithm count as tried', async t => {
  const signer = newKey('ES256')
  const unfitting = Array.from({ length: 4 }, () => ({ ...bareJwk(newKey('EdDSA')) }))

  t.equal(findSignatureFault(toPublicKeys({ keys: [...unfitting, bareJwk(signer)] }), signedBy(signer)), undefined)
  t.equal(findSignatureFault(toPublicKeys({ keys: unfitting }), signedBy(signer)), 'key_unknown')
})

t.test('a key with key_ops verifies only if that is a list of strings with verify', async t => {
  const signer = newKey('ES256')
  const faultWith = (key_ops: unknown) =>
    findSignatureFault(toPublicKeys({ keys: [{ ...bareJwk(signer), key_ops }] }), signedBy(signer))

  for (const key_ops of [undefined, ['verify'], ['sign', 'verify']]) {
    t.equal(faultWith(key_ops), undefined, JSON.stringify(key_ops))
  }
  for (const key_ops of [[], ['sign'], ['encrypt'], ['verify', 1], 'verify', { verify: true }, null, 1]) {
    t.equal(faultWith(key_ops), 'key_unknown', JSON.stringify(key_ops))
  }
})
