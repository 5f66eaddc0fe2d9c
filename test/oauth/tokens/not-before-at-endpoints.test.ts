/** The tokens that a cutoff ends, the endpoints that check it, and the round trips of the check: none of its own. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { createMemoryStore } from '../../../src/stores/memory.ts'
import type { NotBefore } from '../../../src/stores/ports/not-before.ts'
import type { Store } from '../../../src/stores/ports/store.ts'
import { eventually } from '../../support/eventually.ts'
import { createManualClock, startServer, type TestServer, verifier } from '../support/authorization-server.ts'

const formats = ['jwt', 'opaque'] as const
const tokensIn = (format: (typeof formats)[number]) => ({
  accessToken: { format, lifetimeSec: 600, alg: 'ES256' } as const,
})

const refused = { status: 400, body: { error: 'invalid_grant' } }
const inactive = { status: 200, body: { active: false } }

const cutOff = ({ deps, clock }: TestServer, target: Pick<NotBefore, 'client_id' | 'sub'>): Promise<void> => {
  const nowMs = clock.nowMs()
  return deps.store.cutoffs.add({ ...target, throughSec: Math.floor(nowMs / 1000), untilMs: nowMs + 86_400_000 })
}

const redeem = async ({ token }: TestServer, code: string, as = 'app') =>
  (await token({ grant_type: 'authorization_code', code, code_verifier: verifier }, { as })).body

const refresh = ({ token }: TestServer, refresh_token: unknown, as = 'app') =>
  token({ grant_type: 'refresh_token', refresh_token: String(refresh_token) }, { as })

const introspect = ({ introspect: ask }: TestServer, token: unknown, as = 'app') =>
  ask({ token: String(token) }, { as })

for (const format of formats) {
  t.test(`earlier tokens of a client are inactive at once, and later ones are valid (${format})`, async t => {
    const server = await startServer(t, tokensIn(format))
    const before = await redeem(server, await server.makeCode('app'))
    await cutOff(server, { client_id: 'app' })

    t.match(await introspect(server, before.access_token), inactive)
    t.match(await introspect(server, before.refresh_token), inactive)
    t.match(await refresh(server, before.refresh_token), refused)

    server.clock.advanceSec(1)
    const after = await redeem(server, await server.makeCode('app'))
    t.match(await introspect(server, after.access_token), { body: { active: true } })
    t.match(await refresh(server, after.refresh_token), { status: 200 })
  })
  t.test(`the gateway refuses an earlier token soon, and accepts those of other clients (${format})`, async t => {
    const server = await startServer(t, tokensIn(format))
    const before = await redeem(server, await server.makeCode('app'))
    const other = await redeem(server, await server.makeCode('other'), 'other')
    t.ok(await server.server.verifyAccessToken(String(before.access_token)))

    await cutOff(server, { client_id: 'app' })
    await eventually(async () => !(await server.server.verifyAccessToken(String(before.access_token))))

    t.ok(await server.server.verifyAccessToken(String(other.access_token)))
    const record = await server.server.verifyAccessToken(String(other.access_token))
    t.equal(record && (await server.server.isTokenExpiredOrRevoked(String(other.access_token), record)), false)
  })
}

t.test('an earlier code of the client is refused, and a code of another client is accepted', async t => {
  const server = await startServer(t)
  const code = await server.makeCode('app')
  const otherCode = await server.makeCode('other')
  await cutOff(server, { client_id: 'app' })

  t.match(await redeem(server, code), { error: 'invalid_grant' })
  t.match(await redeem(server, otherCode, 'other'), { access_token: String })
})

t.test('a cutoff of a subject ends its tokens at every client; with a client, only at that one', async t => {
  for (const target of [{}, { client_id: 'app' }]) {
    const server = await startServer(t)
    const atApp = await redeem(server, await server.makeCode('app'))
    const { sub } = (await introspect(server, atApp.access_token)).body
    await cutOff(server, { sub: String(sub), ...target })

    t.match(await introspect(server, atApp.access_token), inactive)
    const elsewhere = await redeem(server, await server.makeCode('app'))
    t.match(await introspect(server, elsewhere.access_token), { body: { active: true } }, 'another subject')
  }
})

t.test('a refresh does not make a grant younger, because its sign-in began earlier', async t => {
  const server = await startServer(t)
  const { refresh_token } = await redeem(server, await server.makeCode('app'))
  await cutOff(server, { client_id: 'app' })

  server.clock.advanceSec(3600)

  t.match(await refresh(server, refresh_token), refused)
})

t.test('a grant without the time of its start is older than any cutoff', async t => {
  const clock = createManualClock()
  const store = createMemoryStore(clock)
  const grants: Store['grants'] = {
    ...store.grants,
    create: ({ record: { beganAtSec: _, ...record }, ...grant }) => store.grants.create({ ...grant, record }),
  }
  const server = await startServer(t, {}, clock, { ...store, grants })
  await cutOff(server, { client_id: 'app' })
  server.clock.advanceSec(3600)

  t.match(await redeem(server, await server.makeCode('app')), { error: 'invalid_grant' })
})

t.test('the cutoffs are read before the store has answered the lookup of the request', async t => {
  const clock = createManualClock()
  const store = createMemoryStore(clock)
  let timesAsked = 0
  const cutoffs: Store['cutoffs'] = {
    ...store.cutoffs,
    since: cursor => {
      timesAsked++
      return store.cutoffs.since(cursor)
    },
  }
  /** Answers if the cutoffs were read by the end of the event-loop turn of this call. */
  const after = <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      const before = timesAsked
      await nextTurn()
      await nextTurn()
      t.equal(timesAsked, before + 1)
      return call(...args)
    }
  }
  const { grants, tokens, revocations } = store
  const server = await startServer(t, {}, clock, {
    ...store,
    cutoffs,
    grants: { ...grants, redeem: after(grants.redeem), refresh: after(grants.refresh) },
    tokens: { ...tokens, findAny: after(tokens.findAny) },
    revocations: { ...revocations, isRevoked: after(revocations.isRevoked) },
  })
  const { access_token, refresh_token } = await redeem(server, await server.makeCode('app'))

  t.match(await introspect(server, access_token), { body: { active: true } })
  t.match(await introspect(server, refresh_token), { body: { active: true } })
  t.match(await refresh(server, refresh_token), { status: 200 })
})

t.test('calls in one event-loop turn share a read, which starts after the last call', async t => {
  const clock = createManualClock()
  const store = createMemoryStore(clock)
  const asked: string[] = []
  const cutoffs: Store['cutoffs'] = {
    ...store.cutoffs,
    since: cursor => {
      asked.push('cutoffs')
      return store.cutoffs.since(cursor)
    },
  }
  const revocations: Store['revocations'] = {
    ...store.revocations,
    isRevoked: id => {
      asked.push('token')
      return store.revocations.isRevoked(id)
    },
  }
  const server = await startServer(t, {}, clock, { ...store, cutoffs, revocations })
  const { access_token } = await redeem(server, await server.makeCode('app'))
  asked.length = 0

  const answers = await Promise.all([1, 2, 3].map(() => introspect(server, access_token)))

  for (const answer of answers) t.match(answer, { body: { active: true } })
  t.same(asked, ['token', 'token', 'token', 'cutoffs'])
})
