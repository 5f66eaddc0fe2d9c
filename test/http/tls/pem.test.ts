import t from 'tap'
import { parseCertificates } from '../../../src/http/tls/pem.ts'
import { createCertificates } from '../../support/certificates.ts'

const { ca, client } = createCertificates(t)
const subjectsOf = (pem: string): readonly string[] => parseCertificates(pem).map(({ subject }) => subject)
const [caSubject = '', clientSubject = ''] = [subjectsOf(ca.cert)[0], subjectsOf(client.cert)[0]]

t.test('every certificate of a text, in order, with keys and remarks between them', async t => {
  t.same(subjectsOf(`${client.cert}${ca.cert}`), [clientSubject, caSubject])
  t.same(subjectsOf(`the client:\r\n${client.cert}${client.key}\n# its CA\n${ca.cert}`), [clientSubject, caSubject])
  t.same(subjectsOf(ca.cert.replace(/\n/g, '\r\n')), [caSubject])
  t.same(subjectsOf(ca.cert.trimEnd()), [caSubject])
})

t.test('a text that breaks off within a block is refused wherever it does', async t => {
  const whole = `${ca.cert}${client.cert}`.trimEnd()
  for (let length = ca.cert.length + 5; length < whole.length; length++) {
    t.throws(() => parseCertificates(whole.slice(0, length)), /has a BEGIN without its END/, `${length}`)
  }
})

t.test('a block that is cut off in the middle of the text is refused', async t => {
  const cut = ca.cert.slice(0, 300)

  t.throws(() => parseCertificates(`${cut}${client.cert}`), /BEGIN without its END/)
  t.throws(() => parseCertificates(`${cut}\n${client.cert}`), /BEGIN without its END/)
})

t.test('what is no certificate is refused, with its place', async t => {
  t.throws(() => parseCertificates(''), /^holds no certificate in PEM$/)
  t.throws(() => parseCertificates(client.key), /^holds no certificate in PEM$/)
  const broken = ca.cert.replace(/MII[A-Za-z0-9]/, 'AAAA')
  t.throws(() => parseCertificates(`${client.cert}${broken}`), /no certificate where number 2 should be/)
})
