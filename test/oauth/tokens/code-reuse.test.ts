/** The tokens of a code that was used twice stay revoked for as long as an access token of the code may be valid. */
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { acceptedConfig, makeFolder } from '../../config/support.ts'
import { startRedis } from '../../support/redis.ts'
import { createManualClock, startServer, type TestServer, verifier } from '../support/authorization-server.ts'

const lifetimeSec = 600

for (const format of ['jwt', 'opaque'] as const) {
  for (const kind of ['memory', 'sqlite', 'redis'] as const) {
    t.test(
      `${kind}, ${format}: a token stays revoked for its whole lifetime after its code was used twice`,
      async t => {
        const redis = kind === 'redis' ? await startRedis(t) : undefined
        const url = redis?.url ?? (kind === 'sqlite' ? `sqlite:${join(makeFolder(t), 'sidegate.db')}` : 'memory:')
        const clock = createManualClock(Date.now())
        const { store: options } = await acceptedConfig(t, { store: url })
        const store = await openStore(options, clock)
        t.teardown(() => store.close())
        const accessToken = { format, lifetimeSec, alg: 'ES256' } as const
        /** Another process over the store. */
        const start = (): Promise<TestServer> => startServer(t, { accessToken }, clock, store)
        const server = await start()
        const redeem = async (code: string) =>
          (await server.token({ grant_type: 'authorization_code', code, code_verifier: verifier }, { as: 'app' })).body
        const code = await server.makeCode('app')
        const token = String((await redeem(code)).access_token)
        const kept = String((await redeem(await server.makeCode('app'))).access_token)
        t.ok(await server.server.verifyAccessToken(token))

        t.equal((await redeem(code)).error, 'invalid_grant')

        for (let minute = 0; minute < 10; minute++) {
          clock.advanceSec(minute === 0 ? 59 : 60)
          const later = await start()
          for (const process of [server, later]) {
            t.equal(await process.server.verifyAccessToken(token), undefined, `at the gateway after ${minute + 1} min`)
            t.equal((await process.introspect({ token }, { as: 'app' })).body.active, false)
          }
          t.ok(await later.server.verifyAccessToken(kept), 'another grant')
        }
        // Redis expires records by its own clock, which no test changes.
        for (const key of (await redis?.client.keys('*:revoked')) ?? [])
          t.ok(Number(await redis?.client.pttl(key)) > (lifetimeSec - 60) * 1000, 'Redis keeps the revocation')
        t.equal((await redis?.client.keys('*:revoked'))?.length ?? 1, 1)
      },
    )
  }
}
