import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { copyFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../src/config/load.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'
import { acceptedConfig, problemsOf, writeConfig } from '../support.ts'

const certificates = createCertificates(t)
const { dir, server, client, ca } = certificates
const files = { cert_file: server.certFile, key_file: server.keyFile }

t.test('paths of TLS files are relative to the configuration, which does not contain their contents', async t => {
  const file = writeConfig(t, { tls: { cert_file: 'tls.crt', key_file: 'tls.key' } })
  copyFileSync(server.certFile, join(dirname(file), 'tls.crt'))
  copyFileSync(server.keyFile, join(dirname(file), 'tls.key'))

  const loaded = await loadConfig(file, {})

  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  t.same(loaded.config.tls, {
    certFile: join(dirname(file), 'tls.crt'),
    keyFile: join(dirname(file), 'tls.key'),
    clientAuth: 'off',
  })
})

t.test('with TLS the default issuer is https', async t => {
  t.equal((await acceptedConfig(t, { tls: files })).issuer, 'https://localhost:8080')
  t.equal((await acceptedConfig(t, { tls: files, listen: '0.0.0.0:443' })).issuer, 'https://localhost')
  t.equal((await acceptedConfig(t, { listen: '0.0.0.0:80' })).issuer, 'http://localhost')
})

t.test('a file that does not exist is a problem at its own line', async t => {
  const file = writeConfig(t, { tls: { ...files, key_file: 'absent.key' } })

  t.match(await loadConfig(file, {}), {
    problems: [
      {
        line: 3,
        column: 13,
        message: 'tls.key_file: does not name a readable file, relative to the folder of the configuration (ENOENT)',
      },
    ],
  })
})

t.test('a file that contains something else is a problem at its own line', async t => {
  const swapped = await problemsOf(t, { tls: { cert_file: server.keyFile, key_file: server.certFile } })
  const encoded = join(dir, 'broken-ca.crt')
  writeFileSync(encoded, `${ca.cert}${ca.cert.replace(/M.{40}/, '')}`)
  const broken = await problemsOf(t, { tls: { ...files, clientCa_file: encoded } })

  t.match(swapped, [
    /^2:14: tls\.cert_file: contains no certificate in PEM; name another file$/,
    /^3:13: tls\.key_file: contains no private key in PEM without passphrase; name another file$/,
  ])
  t.match(broken, [/^4:18: tls\.clientCa_file: contains no certificate in PEM, or one that cannot be parsed/])
})

t.test('the key must belong to the certificate', async t => {
  t.match(await problemsOf(t, { tls: { ...files, key_file: client.keyFile } }), [
    /^3:13: tls\.key_file: contains the key of another certificate; name the key that belongs to cert_file$/,
  ])
  t.same(await problemsOf(t, { tls: { cert_file: client.certFile, key_file: client.keyFile } }), [])
})

t.test('the private listener has files of its own', async t => {
  const tls = { ...files, clientCa_file: ca.certFile }
  const listen = '127.0.0.1:9443'
  const login = { mode: 'handoff', url: 'https://login.example.com/' }

  t.match(await problemsOf(t, { login, internal: { listen, tls: { ...tls, key_file: client.keyFile } } }), [
    /internal\.tls\.key_file: contains the key of another certificate/,
  ])
  t.same((await acceptedConfig(t, { login, internal: { listen, tls } })).internal, {
    listen: { host: '127.0.0.1', port: 9443 },
    tls: { certFile: server.certFile, keyFile: server.keyFile, clientCaFile: ca.certFile, clientAuth: 'required' },
  })
})

t.test('a certificate that no client accepts is a problem at its own line', async t => {
  const odd = certificates.issue('odd', { newKey: 'ec:secp256k1' })
  const short = certificates.issue('short', { newKey: 'rsa:1024' })
  const good = certificates.issue('good', { newKey: 'rsa:2048' })
  const served = (own: CertificateFiles) => problemsOf(t, { tls: { cert_file: own.certFile, key_file: own.keyFile } })

  t.match(await served(odd), [/^2:14: tls\.cert_file: cannot be used: no client takes a key of this kind; use RSA/])
  t.match(await served(short), [/^2:14: tls\.cert_file: cannot be used: TLS does not take it \(ee key too small\)/])
  t.same(await served(good), [])
})

t.test('a certificate outside its validity period is a problem for a check, but not for a start', async t => {
  const { validFromDate, validToDate } = new X509Certificate(server.cert)
  const file = writeConfig(t, { tls: files })
  const messagesAt = async (nowMs?: number) => {
    const loaded = await loadConfig(file, {}, nowMs)
    return loaded.ok ? [] : loaded.problems.map(({ line, message }) => `${line}: ${message}`)
  }

  t.same(await messagesAt(validFromDate.getTime()), [])
  t.same(await messagesAt(validToDate.getTime()), [])
  t.same(await messagesAt(validFromDate.getTime() - 1), [
    `2: tls.cert_file: is not valid before ${validFromDate.toISOString()}; take one that is valid now`,
  ])
  t.same(await messagesAt(validToDate.getTime() + 1), [
    `2: tls.cert_file: expired at ${validToDate.toISOString()}; take a new one`,
  ])
  t.same(await messagesAt(), [])
})

t.test('the CA of the clients cannot also be the CA of the login, under any name', async t => {
  const bundle = join(dir, 'bundle.pem')
  const renewed = join(dir, 'renewed-ca.pem')
  const below = certificates.issue('below')
  const other = certificates.issueSelfSigned('other', { subject: '/CN=Test CA' })
  writeFileSync(bundle, `${other.cert}${ca.cert}`)
  execFileSync('openssl', ['req', '-x509', '-key', ca.keyFile, '-subj', '/CN=Renewed CA', '-out', renewed])
  const problemsWith = (ofClients: string, ofLogin: string) =>
    problemsOf(t, {
      tls: { ...files, clientCa_file: ofClients, clientAuth: 'optional' },
      internal: { listen: '127.0.0.1:9443', tls: { ...files, clientCa_file: ofLogin } },
      login: { mode: 'handoff', url: 'https://login.example.com/' },
    })
  const refusal = [
    /internal\.tls\.clientCa_file: verifies the same certificates as tls\.clientCa_file, so every client could report/,
  ]

  t.match(await problemsWith(ca.certFile, ca.certFile), refusal)
  t.match(await problemsWith(bundle, ca.certFile), refusal, 'one of several')
  t.match(await problemsWith(ca.certFile, renewed), refusal, 'the same key in another certificate')
  t.match(await problemsWith(below.certFile, ca.certFile), refusal, 'one that it has issued')
  t.same(await problemsWith(ca.certFile, other.certFile), [], 'another key with the same name')
})

t.test('TLS to upstreams is checked in the same way', async t => {
  const upstream = (tls: Readonly<Record<string, string>>) => ({
    upstreams: { up: { targets: ['https://up.test'], tls } },
  })
  const own = { cert_file: client.certFile, key_file: client.keyFile }

  t.same(await problemsOf(t, upstream({ ca_file: ca.certFile, ...own })), [])
  t.match(await problemsOf(t, upstream({ ca_file: 'absent.pem' })), [/tls\.ca_file: does not name a readable file/])
  t.match(await problemsOf(t, upstream({ ca_file: ca.keyFile })), [/tls\.ca_file: contains no certificate in PEM/])
  t.match(await problemsOf(t, upstream({ cert_file: client.certFile })), [/tls\.key_file: missing/])
  t.match(await problemsOf(t, upstream({ ...own, key_file: server.keyFile })), [
    /tls\.key_file: contains the key of another certificate/,
  ])
})
