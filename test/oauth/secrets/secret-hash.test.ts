import t from 'tap'
import {
  createSecretVerifier,
  hashGeneratedSecret,
  hashSecret,
  isSecretHash,
} from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'

const fixedClock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const secret = new Secret('Tr0ub4dor&3 ünïcode')

t.test('a secret that a user chose verifies against its slow hash, and one other character does not', async t => {
  const verify = createSecretVerifier(fixedClock)

  const stored = new Secret(await hashSecret(secret))

  t.match(stored.reveal(), /^scrypt\$ln=15,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/)
  t.equal(await verify(secret, stored), true)
  t.equal(await verify(new Secret('Tr0ub4dor&4 ünïcode'), stored), false)
  t.equal(await verify(new Secret(''), stored), false)
})

t.test('the slow hash is scrypt with the test vectors of RFC 7914 section 12', async t => {
  const verify = createSecretVerifier(fixedClock)
  const key = Buffer.from(
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2' +
      'd5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
    'hex',
  )
  const salt = Buffer.from('SodiumChloride')

  const stored = new Secret(`scrypt$ln=14,r=8,p=1$${salt.toString('base64url')}$${key.toString('base64url')}`)

  t.equal(await verify(new Secret('pleaseletmein'), stored), true)
  t.equal(await verify(new Secret('pleaseletmeout'), stored), false)
})

t.test('a generated secret verifies against its fast hash at once', async t => {
  const verify = createSecretVerifier(fixedClock)

  const stored = new Secret(hashGeneratedSecret(secret))

  t.match(stored.reveal(), /^sha256\$[\w-]{22}\$[\w-]{43}$/)
  t.equal(verify(secret, stored), true)
  t.equal(verify(new Secret('something longer than the secret itself is'), stored), false)
})

t.test('the same secret has another stored form each time', async t => {
  t.not(hashGeneratedSecret(secret), hashGeneratedSecret(secret))
  t.not(await hashSecret(secret), await hashSecret(secret))
})

t.test('a right secret is cached for five minutes, a wrong one never', async t => {
  let nowMs = 0
  const verify = createSecretVerifier({ nowMs: () => 0, monotonicMs: () => nowMs })
  const stored = new Secret(await hashSecret(secret))
  const wrong = new Secret('wrong')

  await verify(secret, stored)
  await verify(wrong, stored)

  nowMs += 5 * 60_000 - 1
  t.equal(verify(secret, stored), true)
  t.type(verify(wrong, stored), Promise)
  nowMs += 1
  t.type(verify(secret, stored), Promise)
})

t.test('twenty concurrent checks all get their result', async t => {
  const verify = createSecretVerifier(fixedClock)
  const stored = new Secret(await hashSecret(secret))
  const tries = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? secret : new Secret(`wrong ${i}`)))

  const answers = await Promise.all(tries.map(tried => verify(tried, stored)))

  t.same(
    answers,
    tries.map(tried => tried === secret),
  )
})

t.test('a stored form that is malformed or too expensive is refused, and verifies nothing', async t => {
  const verify = createSecretVerifier(fixedClock)
  const salt = 'A'.repeat(22)
  const hash = 'A'.repeat(43)
  const refused = [
    '',
    'correct horse',
    `sha256$${salt}`,
    `sha256$${salt}$${hash}A`,
    `sha512$${salt}$${hash}`,
    `scrypt$ln=15,r=8$${salt}$${hash}`,
    `scrypt$ln=15,r=8,p=1$${salt}$${hash}\n`,
    `scrypt$ln=0,r=8,p=1$${salt}$${hash}`,
    `scrypt$ln=19,r=8,p=1$${salt}$${hash}`,
    `scrypt$ln=15,r=8,p=99$${salt}$${hash}`,
    `scrypt$ln=16,r=1,p=1$${salt}$${hash}`,
    `scrypt$ln=99,r=99,p=99$${salt}$${hash}`,
  ]
  for (const text of refused) {
    t.equal(isSecretHash(text), false, text)
    t.equal(verify(secret, new Secret(text)), false, text)
  }
  t.equal(isSecretHash(`scrypt$ln=15,r=8,p=1$${salt}$${hash}`), true)
  t.equal(isSecretHash(`sha256$${salt}$${hash}`), true)
})

t.test('when too many secrets wait to be checked, the next one gets Retry-After', async t => {
  const verify = createSecretVerifier(fixedClock)
  const stored = new Secret(`scrypt$ln=1,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`)

  const answers = await Promise.allSettled(
    Array.from({ length: 300 }, (_, i) => verify(new Secret(`wrong ${i}`), stored)),
  )

  const refused = answers.filter(answer => answer.status === 'rejected')
  t.equal(refused.length, 98, 'two run and two hundred wait')
  t.match(refused[0]?.reason, { code: 'temporarily_unavailable', status: 503, headers: { 'retry-after': '1' } })
  t.equal(await verify(new Secret('later'), stored), false, 'and the next check works')
})
