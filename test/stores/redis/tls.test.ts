import { copyFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/clock.ts'
import { openStore } from '../../../src/stores/open.ts'
import type { Store } from '../../../src/stores/ports/store.ts'
import { StoreUnavailableError } from '../../../src/stores/ports/store-unavailable.ts'
import { newGrant, newId } from '../../conformance/records.ts'
import { createCertificates } from '../../support/certificates.ts'
import { newCharge } from '../../support/charges.ts'
import { eventually } from '../../support/eventually.ts'
import { startRedis, startSentinel } from '../../support/redis.ts'
import { startLonelyNode } from '../../support/redis-cluster.ts'
import { openWorker, toRedisUrl } from './support/workers.ts'

const { ca, server, client, selfSigned, issue, dir } = createCertificates(t)

const wishes = {
  portOption: '--tls-port',
  client: { tls: { ca: ca.cert, cert: client.cert, key: client.key } },
} as const

/** A server that speaks TLS alone, and asks for a certificate of the CA. */
const tlsArguments = (certificate = server): readonly string[] => [
  ...['--port', '0', '--tls-cert-file', certificate.certFile, '--tls-key-file', certificate.keyFile],
  ...['--tls-ca-cert-file', ca.certFile, '--tls-replication', 'yes', '--tls-cluster', 'yes'],
]

const redis = await startRedis(t, tlsArguments(), wishes)

const open = async (t: Test, url: string): Promise<Store> => {
  const store = await openStore(toRedisUrl(url), systemClock)
  t.teardown(() => store.close())
  return store
}

const fileOptions = (files: Readonly<Record<string, string>>): string =>
  Object.entries(files)
    .map(([name, file]) => `${name}=${encodeURIComponent(file)}`)
    .join('&')

const files = { ca_file: ca.certFile, cert_file: client.certFile, key_file: client.keyFile }
const single = (options: string): string => `rediss://127.0.0.1:${redis.port}?${options}`

t.test('Redis is reached by TLS, and each side knows the other by its certificate', async t => {
  const url = single(fileOptions(files))
  const store = await open(t, url)
  const { limiter } = await openWorker(t, url)

  await store.grants.create(newGrant(Date.now()))
  t.match(await limiter.charge(newCharge(1)), { allowed: true, source: 'store' })
})

for (const [name, options] of [
  [
    'whose certificate no CA of the system issued',
    fileOptions({ cert_file: client.certFile, key_file: client.keyFile }),
  ],
  ['that bears another name', `${fileOptions(files)}&servername=other.example`],
  ['that asks for a certificate and gets none', fileOptions({ ca_file: ca.certFile })],
  [
    'that gets a self-signed certificate',
    fileOptions({ ca_file: ca.certFile, cert_file: selfSigned.certFile, key_file: selfSigned.keyFile }),
  ],
] as const)
  t.test(`a Redis ${name} counts as unavailable`, async t => {
    const store = await open(t, single(options))

    await t.rejects(store.ping(), StoreUnavailableError)
  })

t.test('a Redis whose certificate contains no address is verified by the servername of its address', async t => {
  const named = issue('named', { san: 'DNS:redis.example', usage: 'serverAuth' })
  const redis = await startRedis(t, tlsArguments(named), {
    ...wishes,
    client: { tls: { ...wishes.client.tls, servername: 'redis.example' } },
  })
  const url = `rediss://127.0.0.1:${redis.port}?${fileOptions(files)}`

  await t.rejects((await open(t, url)).ping(), StoreUnavailableError)
  await (await open(t, `${url}&servername=redis.example`)).ping()
})

t.test('a certificate that is renewed in its files is shown to the next connection, without a restart', async t => {
  const [certFile, keyFile] = [`${dir}/current.pem`, `${dir}/current.key`]
  const put = (from: { readonly certFile: string; readonly keyFile: string }): void => {
    copyFileSync(from.certFile, certFile)
    copyFileSync(from.keyFile, keyFile)
  }
  put(selfSigned)
  const store = await open(t, single(fileOptions({ ...files, cert_file: certFile, key_file: keyFile })))
  await t.rejects(store.ping(), StoreUnavailableError)

  put(client)

  await eventually(() => store.ping().then(() => true))
})

t.test('the error for a file that is missing or contains something else is one sentence', async t => {
  for (const [name, file, fault] of [
    ['ca_file', `${dir}/nothing.pem`, 'cannot be read (ENOENT)'],
    ['ca_file', client.keyFile, 'contains no certificate in PEM'],
    ['key_file', client.certFile, 'contains no private key in PEM without passphrase'],
    ['key_file', server.keyFile, 'contains the key of another certificate than cert_file'],
  ] as const)
    await t.rejects(openStore(toRedisUrl(single(fileOptions({ ...files, [name]: file }))), systemClock), {
      message: `${name} of the Redis address ${fault}`,
    })
})

t.test('a Cluster is reached by TLS', async t => {
  const node = await startLonelyNode(t, tlsArguments(), wishes)
  const url = `rediss+cluster://localhost:${node.port}?${fileOptions(files)}`
  const store = await open(t, url)
  const { limiter } = await openWorker(t, url)

  t.same(await store.replays.spend([{ id: newId(), untilMs: Date.now() + 1000 }]), [true])
  t.match(await limiter.charge(newCharge(1)), { allowed: true, source: 'store' })
})

t.test('Sentinels and their primary are reached by TLS', async t => {
  const sentinel = await startSentinel(t, redis.port, { ...wishes, extraArguments: tlsArguments() })
  const url = `rediss+sentinel://127.0.0.1:${sentinel.port}/fleet?${fileOptions(files)}`
  const store = await open(t, url)

  await store.ping()
  await t.rejects((await open(t, url.replace('rediss', 'redis').split('?')[0] ?? '')).ping(), StoreUnavailableError)
})
