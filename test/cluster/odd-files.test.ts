import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createCertificates } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { configFileOf } from './support/config-file.ts'
import { logEntries, startGateway } from './support/gateway.ts'

const root = join(import.meta.dirname, '../..')

const makePipe = (path: string): void => void execFileSync('mkfifo', [path])

/** Replaces a file with a named pipe atomically. */
const turnIntoPipe = (path: string): void => {
  makePipe(`${path}.pipe`)
  renameSync(`${path}.pipe`, path)
}

const client = (client_secret_file: string) => ({
  client_id: 'shop',
  client_secret_file,
  grant_types: ['client_credentials'],
})

t.test('named pipes in place of files delay neither reloads nor the exit', async t => {
  const { server, ca } = createCertificates(t)
  const secretFile = join(t.testdir({ secret: 'one' }), 'secret')
  const sidegate = await startGateway(t, {
    clients: [client(secretFile)],
    upstreams: { there: { targets: ['https://127.0.0.1:1'], tls: { ca_file: ca.certFile } } },
    tls: { cert_file: server.certFile, key_file: server.keyFile },
  })
  const refusedFor = (text: string): boolean =>
    logEntries(sidegate, 'config_refused').some(({ problems }) => problems?.join().includes(text))

  turnIntoPipe(secretFile)
  await eventually(() => refusedFor('client_secret_file: does not name a readable file'))
  turnIntoPipe(server.certFile)
  turnIntoPipe(ca.certFile)
  const reasons = () =>
    [...logEntries(sidegate, 'certificate_refused'), ...logEntries(sidegate, 'upstream_certificate_refused')].map(
      ({ reason }) => reason,
    )
  await eventually(() => reasons().includes(`${server.certFile} cannot be read (not a regular file)`))
  await eventually(() => reasons().includes(`${ca.certFile} cannot be read (not a regular file)`))
  turnIntoPipe(configFileOf(sidegate))
  await eventually(() => refusedFor('cannot be read (not a regular file)'))

  t.equal((await fetch(`${sidegate.admin}/readyz`)).status, 200)
  sidegate.kill('SIGTERM')
  t.equal(await sidegate.exited, 0)
})

t.test('a start with a named pipe is refused at once', async t => {
  const folder = t.testdir({})
  makePipe(join(folder, 'pipe'))
  const config = join(folder, 'sidegate.yaml')
  writeFileSync(config, JSON.stringify({ groupings: [], clients: [client('pipe')] }))
  for (const [file, problem] of [
    [config, /sidegate\.yaml:1:\d+: clients\[0\]\.client_secret_file: .*\(not a regular file\)/],
    [join(folder, 'pipe'), /pipe:1:1: .*pipe cannot be read \(not a regular file\)/],
  ] as const) {
    for (const command of ['serve', 'check']) {
      const args = [join(root, 'src/sidegate.cjs'), command, '--config', file]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
      t.teardown(() => child.kill('SIGKILL'))
      let printed = ''
      child.stderr.setEncoding('utf8').on('data', text => {
        printed += text
      })

      t.same(await once(child, 'close'), [1, null])
      t.match(printed, problem)
    }
  }
})
