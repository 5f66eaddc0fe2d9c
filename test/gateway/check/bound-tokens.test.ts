/** Tokens that are bound, where another gateway asks: the proof is of the request that it asks about. */
import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { newKey } from '../../oauth/fapi/support/jws.ts'
import { newProof, type ProofTwist } from '../../oauth/support/proofs.ts'
import { createCertificates } from '../../support/certificates.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { clientSecret } from '../support/running.ts'
import { askingOf, send, startAsked } from './support/asking.ts'

const upstream = await startStrictUpstream(t)
const gateway = await startAsked(t, upstream.url)
const key = newKey('ES256')

type Headers = Readonly<Record<string, string>>

const postToken = async (client_id: string, headers: Headers): Promise<Response> =>
  fetch(`${gateway.url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client_id}:${clientSecret}`)}`, ...headers },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })

const tokenIn = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { access_token: string }).access_token

t.test('a proof is good for method and path of the request that is asked about, once', async t => {
  const proofForToken = (nonce?: string): string =>
    newProof(key, { uri: `${gateway.url}/token`, nowMs: Date.now(), nonce })
  const first = await postToken('app', { dpop: proofForToken() })
  const nonce = first.headers.get('dpop-nonce') ?? ''
  const token = await tokenIn(await postToken('app', { dpop: proofForToken(nonce) }))
  const uri = `${gateway.url}/accounts/1`
  const prove = (twist?: ProofTwist): Headers => ({
    authorization: `DPoP ${token}`,
    dpop: newProof(key, { method: 'POST', uri, nowMs: Date.now(), nonce, token }, twist),
  })
  const askWith = (headers: Headers) => send(gateway, askingOf.caddy('POST', '/accounts/1?page=2'), headers)

  const good = prove()
  t.equal((await askWith(good)).status, 200)
  t.equal((await askWith(good)).status, 401, 'the same again')
  const refused = {
    'the method that asks': { htm: 'GET' },
    'the path that is asked at': { htu: `${gateway.url}/check-caddy` },
    'another path': { htu: `${uri}0` },
  }
  for (const [what, claims] of Object.entries(refused)) {
    const answer = await askWith(prove({ claims }))
    t.equal(answer.status, 401, what)
    t.match(answer.headers['www-authenticate'], /error="invalid_dpop_proof"/, what)
  }
})

t.test('a certificate is what the gateway says it is', async t => {
  const certificates = createCertificates(t)
  const fieldOf = ({ cert }: { readonly cert: string }): Headers => ({
    'client-cert': `:${new X509Certificate(cert).raw.toString('base64')}:`,
  })
  const owner = fieldOf(certificates.client)
  const token = await tokenIn(await postToken('cert', owner))
  const askWith = (headers: Headers) =>
    send(gateway, askingOf.nginx('GET', '/accounts/1'), { authorization: `Bearer ${token}`, ...headers })

  t.equal((await askWith(owner)).status, 200)
  t.equal((await askWith({})).status, 401, 'none')
  t.equal((await askWith(fieldOf(certificates.selfSigned))).status, 401, 'the certificate of another client')
})
