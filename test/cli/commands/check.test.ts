import t from 'tap'
import { sound } from '../../config/lint/support.ts'
import { writeConfig } from '../../config/support.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'
import { demoConfig, sidegate } from '../run.ts'

t.test('a good configuration is ok', async t => {
  t.same(await sidegate(['check', '--config', demoConfig]), { code: 0, stdout: 'ok\n', stderr: '' })
})

t.test('SIDEGATE_CONFIG names the configuration too, and --config overrides it', async t => {
  const bad = writeConfig(t, 'workers: 0\n')

  t.equal((await sidegate(['check'], { env: { SIDEGATE_CONFIG: bad } })).code, 1)
  t.equal((await sidegate(['check', '--config', demoConfig], { env: { SIDEGATE_CONFIG: bad } })).code, 0)
})

t.test('every problem is a line on standard error, with file, line and column', async t => {
  const file = writeConfig(t, 'workers: 0\nlsten: a\n')

  const { code, stdout, stderr } = await sidegate(['check', '--config', file])

  t.equal(code, 1)
  t.equal(stdout, '')
  t.equal(
    stderr,
    `${file}:1:10: workers: must be auto or a whole number from 1 to 256\n${file}:2:1: lsten: unknown key; did you mean listen?\n`,
  )
})

t.test('--json prints the same problems as JSON on standard output', async t => {
  const file = writeConfig(t, 'workers: 0\n')

  const bad = await sidegate(['check', '--json', '--config', file])
  const good = await sidegate(['check', '--json', '--config', demoConfig])

  t.equal(bad.code, 1)
  t.same(JSON.parse(bad.stdout), {
    ok: false,
    problems: [{ file, line: 1, column: 10, message: 'workers: must be auto or a whole number from 1 to 256' }],
  })
  t.equal(good.code, 0)
  t.same(JSON.parse(good.stdout), { ok: true, problems: [] })
})

t.test('serve and start refuse a bad configuration as check does', async t => {
  const file = writeConfig(t, 'workers: 0\n')
  const refusal = {
    code: 1,
    stdout: '',
    stderr: `${file}:1:10: workers: must be auto or a whole number from 1 to 256\n`,
  }

  t.same(await sidegate(['serve', '--config', file]), refusal)
  t.same(await sidegate(['start', '--config', file]), refusal)
})

t.test('a missing file is reported in one line', async t => {
  const { code, stderr } = await sidegate(['serve', '--config', '/absent/sidegate.yaml'])

  t.equal(code, 1)
  t.equal(
    stderr,
    '/absent/sidegate.yaml:1:1: there is no file /absent/sidegate.yaml; name the configuration with --config FILE\n',
  )
})

t.test('an expired certificate is a problem, also in the JSON output', async t => {
  const certificates = createCertificates(t)
  const checked = async ({ certFile, keyFile }: CertificateFiles, ...options: readonly string[]) => {
    const file = writeConfig(t, { tls: { cert_file: certFile, key_file: keyFile } })
    return sidegate(['check', '--config', file, ...options])
  }
  const old = certificates.issue('old', { days: -1 })

  t.match(await checked(old), { code: 1, stderr: /:2:14: tls\.cert_file: expired at / })
  t.match(await checked(old, '--json'), { code: 1, stdout: /tls\.cert_file: expired at / })
  t.match(await checked(certificates.server), { code: 0, stdout: 'ok\n' })
})

t.test('--strict also prints warnings, and a warning is a failure', async t => {
  const file = writeConfig(t, { ...sound, admin: '0.0.0.0:9090' })

  t.match(await sidegate(['check', '--config', file]), { code: 0, stdout: 'ok\n', stderr: '' })
  const { code, stdout, stderr } = await sidegate(['check', '--strict', '--config', file])
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(
    stderr,
    /^[^\n]*sidegate\.yaml:13:8: warning: admin: every host that can reach this port [^\n]* \[admin-open\]\n$/,
  )
})

t.test('--strict accepts allowed rules and a longer grace period', async t => {
  const file = writeConfig(t, { ...sound, admin: '0.0.0.0:9090', shutdown: { timeout: '40s' } })

  const allowed = ['--allow', 'admin-open', '--grace', '46s']
  t.match(await sidegate(['check', '--strict', ...allowed, '--config', file]), { code: 0, stdout: 'ok\n', stderr: '' })
})

t.test('--json prints warnings with their rules beside the problems', async t => {
  const file = writeConfig(t, { ...sound, admin: '0.0.0.0:9090' })

  const { code, stdout } = await sidegate(['check', '--strict', '--json', '--config', file])

  t.equal(code, 1)
  t.match(JSON.parse(stdout), {
    ok: false,
    problems: [],
    warnings: [{ file, line: 13, column: 8, rule: 'admin-open', message: /^admin: / }],
  })
})
