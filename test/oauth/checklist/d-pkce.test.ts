import { challengeOf } from '../../../src/oauth/opaque-token.ts'
import {
  answerOf,
  askToAuthorize,
  authorizationQuery,
  callback,
  locationOf,
  newCode,
  type Parameters,
  redeem,
  verifier,
} from './support/browser.ts'
import { onEachStore } from './support/each-store.ts'

const setup = () => ({
  clients: [client('app', {}), client('exempt', { pkce: 'optional' }), client('spa', publicClient)],
})

const publicClient = { client_secret: undefined, token_endpoint_auth_method: 'none' }

const client = (client_id: string, changes: object): object => ({
  client_id,
  client_secret: `${client_id}-secret`,
  grant_types: ['authorization_code'],
  redirect_uris: [callback],
  scope: 'read',
  ...changes,
})

const invalidGrant = { status: 400, body: { error: 'invalid_grant' } }
const noChallenge = { code_challenge: undefined, code_challenge_method: undefined }

onEachStore('D. PKCE', setup, async (t, { url }) => {
  /** The error that the client gets, or the redirect to the login page. */
  const outcome = async (changes: Parameters): Promise<string> => {
    const reply = await askToAuthorize(url, authorizationQuery({ state: 'a-state', ...changes }))
    if (locationOf(reply).startsWith('/interaction/')) return 'login'
    const { error, state } = answerOf(reply)
    return `${reply.status} ${error} ${state}`
  }

  await t.test(
    'the vector of RFC 7636 appendix B verifies, one flipped character does not (RFC 7636 section 4.6; checklist 33)',
    async t => {
      const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
      const flipped = verifier.replace('d', 'e')

      t.match(await redeem(url, await newCode(url, { code_challenge })), { status: 200 })
      t.match(await redeem(url, await newCode(url, { code_challenge }), { code_verifier: flipped }), invalidGrant)
      t.match(await redeem(url, await newCode(url, { code_challenge }), { code_verifier: undefined }), invalidGrant)
      t.match(await redeem(url, await newCode(url), { code_verifier: challengeOf(verifier) }), invalidGrant)
    },
  )

  await t.test(
    'a challenge with another method than S256 is an invalid_request by redirect (RFC 7636 section 4.4.1; checklist 34)',
    async t => {
      for (const code_challenge_method of ['plain', undefined, '', 's256', 'S512']) {
        for (const client_id of ['app', 'exempt', 'spa']) {
          t.equal(await outcome({ client_id, code_challenge_method }), '303 invalid_request a-state', client_id)
        }
      }
      t.equal(await outcome({}), 'login')
    },
  )

  await t.test(
    'a request without a challenge is an invalid_request, unless the client is exempted by name (RFC 9700 section 2.1.1; checklist 35)',
    async t => {
      for (const client_id of ['app', 'spa']) {
        t.equal(await outcome({ client_id, ...noChallenge }), '303 invalid_request a-state', client_id)
        const methodAlone = { client_id, code_challenge: undefined }
        t.equal(await outcome(methodAlone), '303 invalid_request a-state', client_id)
      }
      t.equal(await outcome({ client_id: 'exempt', ...noChallenge }), 'login')
      t.match(
        await redeem(
          url,
          await newCode(url, { client_id: 'exempt', ...noChallenge }),
          { code_verifier: undefined },
          'exempt',
        ),
        { status: 200 },
      )
    },
  )

  await t.test(
    'a verifier for a request that had no challenge is refused (RFC 9700 section 4.8.2; checklist 36)',
    async t => {
      const code = await newCode(url, { client_id: 'exempt', ...noChallenge })

      t.match(await redeem(url, code, {}, 'exempt'), invalidGrant)
    },
  )

  await t.test(
    'a verifier that is too short, too long or has other characters is refused (RFC 7636 section 4.1; checklist 37)',
    async t => {
      const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~'
      const redeemWith = async (code_verifier: string, challenged = code_verifier) =>
        redeem(url, await newCode(url, { code_challenge: challengeOf(challenged) }), { code_verifier })

      t.match(await redeemWith('a'.repeat(43)), { status: 200 })
      t.match(await redeemWith((letters + letters).slice(0, 128)), { status: 200 })
      for (const wrong of [
        'a'.repeat(42),
        'a'.repeat(129),
        `${'a'.repeat(42)}+`,
        `${'a'.repeat(42)} `,
        'ä'.repeat(43),
      ]) {
        t.match(await redeemWith(wrong), invalidGrant, wrong)
      }
    },
  )

  await t.test(
    'a challenge that no S256 verifier can have is refused at once, with a description (RFC 7636 section 4.2; checklist 38)',
    async t => {
      const hex = '13e9394d5ae1ed1f'.repeat(4)
      const wrong = [
        hex,
        'a'.repeat(42),
        'a'.repeat(44),
        `${'a'.repeat(42)}=`,
        `${'a'.repeat(42)}+`,
        `${'a'.repeat(42)}.`,
      ]
      for (const code_challenge of wrong) {
        const refused = await askToAuthorize(url, authorizationQuery({ code_challenge }))
        t.match(answerOf(refused), { error: 'invalid_request', error_description: /code_challenge/ }, code_challenge)
      }
      t.equal(await outcome({ code_challenge: challengeOf('a'.repeat(43)) }), 'login')
    },
  )
})
