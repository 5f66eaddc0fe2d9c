import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate and its private key (ECDSA, P-256), as files and as PEM texts. */
export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
  readonly cert: string
  readonly key: string
}

export interface CertificateWishes {
  /** As openssl writes it; default `/CN=<name>`. */
  readonly subject?: string
  /** Subject alternative names as openssl writes them: `DNS:a.example,IP:127.0.0.1,URI:urn:a,email:a@b.example`. */
  readonly san?: string
  readonly usage?: 'serverAuth' | 'clientAuth'
  /** Days from now; -1 has expired. Default 30. */
  readonly days?: number
  /** Its key as openssl writes it, such as `rsa:2048`, `ed25519` or `ec:secp384r1`. Default `ec:P-256`. */
  readonly newKey?: string
}

/** A certificate authority of the test's own and what it has issued, in a folder that goes with the test. */
export interface Certificates {
  readonly dir: string
  readonly ca: CertificateFiles
  /** For `localhost`, 127.0.0.1 and ::1. */
  readonly server: CertificateFiles
  /** `CN=client, O=Tests`, with a subject alternative name of every kind. */
  readonly client: CertificateFiles
  /** A client's, without a CA. */
  readonly selfSigned: CertificateFiles
  /** One more by the CA, or, where `name` was issued before, a new one in its files. */
  issue(name: string, wishes?: CertificateWishes): CertificateFiles
  issueSelfSigned(name: string, wishes?: CertificateWishes): CertificateFiles
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** Makes them with openssl, in some ten milliseconds each. */
export const createCertificates = (t: Teardown): Certificates => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-certificates-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const ca = selfSign(dir, 'ca', { subject: '/CN=Test CA' }, 'keyUsage=critical,keyCertSign,cRLSign')
  const issue = (name: string, wishes: CertificateWishes = {}): CertificateFiles => sign(dir, name, wishes, ca)
  const issueSelfSigned = (name: string, wishes: CertificateWishes = {}): CertificateFiles =>
    selfSign(dir, name, { usage: 'clientAuth', ...wishes })
  return {
    dir,
    ca,
    server: issue('server', { san: 'DNS:localhost,IP:127.0.0.1,IP:::1', usage: 'serverAuth' }),
    client: issue('client', { subject: '/O=Tests/CN=client', san: clientNames, usage: 'clientAuth' }),
    selfSigned: issueSelfSigned('self-signed'),
    issue,
    issueSelfSigned,
  }
}

const clientNames = 'DNS:client.example,URI:https://client.example/,IP:192.0.2.1,email:ops@client.example'

const keyOf = ({ newKey = 'ec:P-256' }: CertificateWishes): readonly string[] => {
  const curve = /^ec:(.+)/.exec(newKey)?.[1]
  const options =
    curve === undefined ? ['-newkey', newKey] : ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`]
  return [...options, '-nodes']
}

const selfSign = (dir: string, name: string, wishes: CertificateWishes, extension?: string): CertificateFiles => {
  const { certFile, keyFile } = filesOf(dir, name)
  const extensions = extension === undefined ? extensionsOf(wishes) : [extension]
  const days = ['-days', String(wishes.days ?? 30)]
  openssl(
    'req',
    '-x509',
    ...keyOf(wishes),
    '-keyout',
    keyFile,
    '-out',
    certFile,
    ...nameOf(name, wishes),
    ...days,
    ...flags(extensions),
  )
  return read(certFile, keyFile)
}

/** By way of a request: `openssl req` itself issues nothing that has expired. */
const sign = (dir: string, name: string, wishes: CertificateWishes, ca: CertificateFiles): CertificateFiles => {
  const { certFile, keyFile } = filesOf(dir, name)
  const requestFile = join(dir, `${name}.csr`)
  const extensions = flags(['basicConstraints=critical,CA:FALSE', ...extensionsOf(wishes)])
  openssl(
    'req',
    '-new',
    ...keyOf(wishes),
    '-keyout',
    keyFile,
    '-out',
    requestFile,
    ...nameOf(name, wishes),
    ...extensions,
  )
  const issuer = ['-CA', ca.certFile, '-CAkey', ca.keyFile]
  const days = ['-days', String(wishes.days ?? 30)]
  openssl('x509', '-req', '-in', requestFile, ...issuer, ...days, '-copy_extensions', 'copyall', '-out', certFile)
  return read(certFile, keyFile)
}

const filesOf = (dir: string, name: string): { readonly certFile: string; readonly keyFile: string } => ({
  certFile: join(dir, `${name}.pem`),
  keyFile: join(dir, `${name}.key`),
})

const nameOf = (name: string, { subject }: CertificateWishes): readonly string[] => [
  '-utf8',
  '-subj',
  subject ?? `/CN=${name}`,
]

const extensionsOf = ({ san, usage }: CertificateWishes): readonly string[] => [
  ...(san === undefined ? [] : [`subjectAltName=${san}`]),
  ...(usage === undefined ? [] : [`extendedKeyUsage=${usage}`]),
]

const flags = (extensions: readonly string[]): readonly string[] => extensions.flatMap(text => ['-addext', text])

const openssl = (...args: readonly string[]): void => {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

const read = (certFile: string, keyFile: string): CertificateFiles => ({
  certFile,
  keyFile,
  cert: readFileSync(certFile, 'utf8'),
  key: readFileSync(keyFile, 'utf8'),
})
