import { X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { client, clientSecret, sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { newKey } from '../oauth/fapi/support/jws.ts'
import { newProof, type ProofTwist } from '../oauth/support/proofs.ts'
import { createCertificates } from '../support/certificates.ts'
import { findFreePort } from '../support/free-port.ts'
import { fieldOf, startStrictUpstream } from '../support/recording-upstream.ts'

const key = newKey('ES256')

/**
 * A gateway that is its own issuer, before an upstream; `cert` is a client whose tokens are bound to its certificate.
 */
const start = async (t: Test) => {
  const upstream = await startStrictUpstream(t)
  const listen = `127.0.0.1:${await findFreePort()}`
  const gateway = await startGateway(
    t,
    { up: upstream.url },
    {
      issuer: `http://${listen}`,
      listen,
      trustedProxies: ['127.0.0.1'],
      clientCertificateHeader: 'client-cert',
      clients: [client('app'), client('cert', { tls_client_certificate_bound_access_tokens: true })],
    },
  )
  return { upstream, gateway, url: gateway.url }
}

type Headers = Readonly<Record<string, string>>

const postToken = (url: string, client_id: string, headers: Headers): Promise<Response> =>
  fetch(`${url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client_id}:${clientSecret}`)}`, ...headers },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })

/** The nonce comes with the first refusal, and is good everywhere. */
const newBoundToken = async (url: string): Promise<{ readonly token: string; readonly nonce: string }> => {
  const proof = (nonce?: string) => newProof(key, { uri: `${url}/token`, nowMs: Date.now(), nonce })
  const first = await postToken(url, 'app', { dpop: proof() })
  const nonce = first.headers.get('dpop-nonce') ?? ''
  const second = await postToken(url, 'app', { dpop: proof(nonce) })
  return { token: ((await second.json()) as { access_token: string }).access_token, nonce }
}

t.test('tokens that are bound, over a running gateway', async t => {
  const { upstream, gateway, url } = await start(t)
  const target = `${url}/up-guarded/x`

  await t.test(
    'a token that is bound to a key passes with its proof, which stays at the gateway (RFC 9449 section 4.3; checklist 91)',
    async t => {
      const { token, nonce } = await newBoundToken(url)
      const prove = (twist?: ProofTwist): Headers => ({
        authorization: `DPoP ${token}`,
        dpop: newProof(key, { method: 'GET', uri: target, nowMs: Date.now(), nonce, token }, twist),
      })

      const good = await fetch(`${target}?page=2`, { headers: prove() })

      t.equal(good.status, 200)
      const seen = upstream.requests.at(-1)
      t.equal(fieldOf(seen, 'dpop'), undefined)
      t.equal(fieldOf(seen, 'authorization'), undefined)
      t.equal(fieldOf(seen, 'x-sidegate-client-id'), 'app')
      const bad = await fetch(target, { headers: prove({ claims: { htu: `${target}y` } }) })
      t.equal(bad.status, 401)
      t.match(await bad.json(), { code: 'DPOP_PROOF_INVALID', status: 401 })
      t.match(bad.headers.get('www-authenticate'), /^DPoP .*error="invalid_dpop_proof".*, Bearer realm="sidegate"/)
      const asBearer = await fetch(target, { headers: { ...prove(), authorization: `Bearer ${token}` } })
      t.equal(asBearer.status, 401)
      t.match(asBearer.headers.get('www-authenticate'), /^Bearer .*error="invalid_token"/)
    },
  )

  await t.test(
    'proofs are counted as credentials of their own, and never logged (RFC 9449 section 4.3; checklist 91)',
    async t => {
      const metrics = await scrape(gateway)

      for (const result of ['ok', 'refused']) {
        t.ok(sampleOf(metrics, 'sidegate_credential_checks_total', '"up-guarded"', '"dpop"', `"${result}"`) > 0, result)
      }
      t.notMatch(gateway.output.join('\n'), 'eyJ')
    },
  )

  await t.test(
    'a token that is bound to a certificate is good with that certificate alone (RFC 8705 section 3; checklist 90)',
    async t => {
      const certificates = createCertificates(t)
      const headerOf = ({ cert }: { readonly cert: string }): Headers => ({
        'client-cert': `:${new X509Certificate(cert).raw.toString('base64')}:`,
      })
      const owner = headerOf(certificates.client)
      const reply = await postToken(url, 'cert', owner)
      const { access_token } = (await reply.json()) as { access_token: string }
      const call = (headers: Headers = {}, scheme = 'Bearer') =>
        fetch(target, { headers: { authorization: `${scheme} ${access_token}`, ...headers } })

      t.equal((await call(owner)).status, 200)
      for (const refused of [call(), call(headerOf(certificates.selfSigned)), call(owner, 'DPoP')]) {
        const { status, headers } = await refused
        t.equal(status, 401)
        t.match(headers.get('www-authenticate'), /^(Bearer|DPoP) .*error="invalid_token"/)
      }
    },
  )
})
