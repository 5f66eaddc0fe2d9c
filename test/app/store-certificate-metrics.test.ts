import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { followStoreCertificates } from '../../src/app/store-certificate-metrics.ts'
import { parseStoreUrl, type StoreUrl } from '../../src/stores/store-url.ts'
import { createAggregate } from '../../src/telemetry/aggregate.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { createCertificates } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { parseExposition } from '../telemetry/support/exposition.ts'

const { ca, client } = createCertificates(t)

const storeAt = (text: string): StoreUrl => {
  const store = parseStoreUrl(text)
  if ('problem' in store) throw new TypeError(store.problem)
  return store
}

const endOf = (cert: string): number => Math.floor(new X509Certificate(cert).validToDate.getTime() / 1000)

/** Scrapes of one process; each scrape shows the values that were set until then. */
const createScrapes = () => {
  const recorder = createRecorder()
  const aggregate = createAggregate()
  const ends = async (): Promise<Readonly<Record<string, number>>> => {
    const changes = recorder.takeChanges()
    if (changes) aggregate.apply('one', changes)
    const { samples } = parseExposition((await aggregate.expose('text')).body)
    return Object.fromEntries(samples.map(({ labels, value }) => [labels.use, value]))
  }
  return { recorder, ends }
}

t.test(
  'for a store over TLS the metrics show when our certificate and its CA expire, until the store is closed',
  async t => {
    const { recorder, ends } = createScrapes()
    const files = `ca_file=${ca.certFile}&cert_file=${client.certFile}&key_file=${client.keyFile}`
    const following = followStoreCertificates(storeAt(`rediss://127.0.0.1:1?${files}`), recorder)

    await eventually(async () => 'store' in (await ends()))
    t.same(await ends(), { store: endOf(client.cert), store_ca: endOf(ca.cert) })

    following.close()
    t.same(await ends(), {})
  },
)

t.test('a store without certificate files has no certificate metrics', async t => {
  for (const text of ['memory:', 'sqlite:a.db', 'redis://127.0.0.1:1', 'rediss://127.0.0.1:1']) {
    const { recorder } = createScrapes()
    followStoreCertificates(storeAt(text), recorder).close()
    t.equal(recorder.takeChanges(), undefined, text)
  }
})
