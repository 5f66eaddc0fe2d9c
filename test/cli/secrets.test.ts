import t from 'tap'
import { hashSecret, verifySecretHash } from '../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../src/secret.ts'
import { problemsOf } from '../config/support.ts'
import { countLines, sidegate } from './run.ts'

t.test('hash prints the stored form of what it reads, without the newline at the end', async t => {
  const { code, stdout } = await sidegate(['hash'], { input: 'wonderland\n' })

  t.equal(code, 0)
  t.equal(countLines(stdout), 1)
  t.match(stdout, /^scrypt\$ln=15,r=8,p=1\$/)
  const stored = new Secret(stdout.trimEnd())
  t.ok(await verifySecretHash(new Secret('wonderland'), stored))
  t.notOk(await verifySecretHash(new Secret('wonderland\n'), stored))
})

t.test('hash strips one newline only', async t => {
  const { stdout } = await sidegate(['hash'], { input: 'wonderland\n\n' })

  t.ok(await verifySecretHash(new Secret('wonderland\n'), new Secret(stdout.trimEnd())))
})

t.test('hash of nothing is a failure', async t => {
  t.match(await sidegate(['hash'], { input: '\n' }), { code: 1, stdout: '', stderr: /no secret on standard input/ })
})

t.test('what hash prints serves as client_secret_hash and as password_hash', async t => {
  const stored = await hashSecret(new Secret('chosen'))

  t.same(
    await problemsOf(t, {
      clients: [{ client_id: 'a', client_secret_hash: stored, grant_types: ['client_credentials'] }],
      login: { users: [{ username: 'u', password_hash: stored }] },
    }),
    [],
  )
})
