import t, { type Test } from 'tap'
import type { ClientAuthMethod } from '../../../src/oauth/clients/metadata.ts'
import { eventually } from '../../support/eventually.ts'
import { type RunningRedis, startRedis } from '../../support/redis.ts'
import type { RunningSidegate } from '../../support/sidegate.ts'
import { basic } from '../support/authorization-server.ts'
import { assertionClaims, assertionFields, type ClientKey, createClientKey } from '../support/client-keys.ts'
import { type SecureClients, startSecureClients, type Told } from './support/secure-clients.ts'

const invalidClient = { status: 401, error: 'invalid_client' }
const asBasic = (client_id: string, secret: string) => ({ headers: { authorization: basic(client_id, secret) } })

const newAssertion = async (key: ClientKey, client_id: string, issuer: string) =>
  assertionFields(await key.sign(assertionClaims(client_id, issuer, Date.now())))

/** The number of processes that have answered with this status, by the access log, which is written a moment later. */
const workersThatSaid = ({ output }: RunningSidegate, status: number): number => {
  const lines = output.filter(line => line.includes('"event":"request"') && line.includes(`"status":${status}`))
  return new Set(lines.map(line => /"worker_pid":(\d+)/.exec(line)?.[1])).size
}

/** The request of a client with its method, valid or with one fault. */
type Attempts = Readonly<
  Record<Exclude<ClientAuthMethod, 'none'>, (clients: SecureClients, isRight: boolean) => Promise<Told>>
>

const attempts: Attempts = {
  client_secret_basic: ({ ask }, isRight) =>
    ask({}, asBasic('client_secret_basic', isRight ? 'the-secret' : 'the-secreu')),
  client_secret_post: ({ ask }, isRight) =>
    ask({ client_id: 'client_secret_post', client_secret: isRight ? 'the-secret' : 'the-secreu' }),
  private_key_jwt: async ({ ask, key, issuer }, isRight) =>
    ask(await newAssertion(isRight ? key : await createClientKey('ES256'), 'private_key_jwt', issuer)),
  tls_client_auth: ({ ask, vouchedFor, otherVouchedFor }, isRight) =>
    ask({ client_id: 'tls_client_auth' }, { certificate: isRight ? vouchedFor : otherVouchedFor }),
  self_signed_tls_client_auth: ({ ask, selfSigned, otherSelfSigned }, isRight) =>
    ask({ client_id: 'self_signed_tls_client_auth' }, { certificate: isRight ? selfSigned : otherSelfSigned }),
}

const runOn = async (t: Test, clients: SecureClients, store: string): Promise<void> => {
  const { ask, issuer, key, fetchedKey, gateway } = clients

  await t.test(
    `every method authenticates over TLS, and a request with one fault does not (${store}) (RFC 7591 section 2; checklist 20)`,
    async t => {
      for (const [method, attempt] of Object.entries(attempts)) {
        t.match(await attempt(clients, true), { status: 200 }, method)
        t.match(await attempt(clients, false), invalidClient, method)
      }
    },
  )

  await t.test(`the times in an assertion may have fractions (${store})`, async t => {
    const exp = Date.now() / 1000 + 60.123_456_7
    const assertion = await key.sign({ ...assertionClaims('private_key_jwt', issuer, Date.now()), exp })

    t.match(await ask(assertionFields(assertion)), { status: 200 })
    t.match(await ask(assertionFields(assertion)), invalidClient)
  })

  await t.test(
    `of 20 parallel uses of one assertion over four workers one is accepted (${store}) (RFC 7523 section 3; checklist 22)`,
    async t => {
      const fields = await newAssertion(key, 'private_key_jwt', issuer)

      const replies = await Promise.all(Array.from({ length: 20 }, () => ask(fields)))

      t.equal(replies.filter(({ status }) => status === 200).length, 1)
      t.ok(replies.every(({ status }) => [200, 401, 429].includes(status)))
      await eventually(() => workersThatSaid(gateway, 401) > 1)
    },
  )

  await t.test(`keys are fetched from a jwks_uri once by each worker (${store})`, async t => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => ask(await newAssertion(fetchedKey, 'fetched', issuer))),
    )

    t.ok(answers.every(({ status }) => status === 200))
    t.match(await ask(await newAssertion(key, 'fetched', issuer)), invalidClient, 'another key is not the client')
    t.ok(clients.fetches() <= 4)
  })

  await t.test(
    `the old and the new secret are accepted during a rotation, an expired one is not (${store}) (checklist 25)`,
    async t => {
      t.match(await ask({}, asBasic('rotating', 'new-secret')), { status: 200 })
      t.match(await ask({}, asBasic('rotating', 'old-secret')), { status: 200 })
      t.match(await ask({}, asBasic('rotating', 'ended-secret')), invalidClient)
    },
  )
}

t.test('client authentication over TLS (sqlite)', async t => {
  await runOn(t, await startSecureClients(t, {}), 'sqlite')
})

t.test('client authentication over TLS (redis)', async t => {
  const redis: RunningRedis = await startRedis(t)
  const clients = await startSecureClients(t, { store: redis.url })
  await runOn(t, clients, 'redis')

  await t.test('while the store is away an assertion gets 503 (RFC 7009 section 2.2.1; checklist 78)', async t => {
    const { ask, fetchedKey, issuer } = clients
    await redis.kill()

    const told = await ask(await newAssertion(fetchedKey, 'fetched', issuer))

    t.equal(told.status, 503)
    t.match(told.retryAfter, /^\d+$/)
  })
})
