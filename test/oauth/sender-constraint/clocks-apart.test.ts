/** A DPoP proof is accepted once though the clocks of the pods that share a Redis differ. */
import t, { type Test } from 'tap'
import { openStore, parseStoreUrl } from '../../../src/stores/open.ts'
import { startRedis } from '../../support/redis.ts'
import { newKey } from '../fapi/support/jws.ts'
import { type Answer, createManualClock, issuer, startServer } from '../support/authorization-server.ts'
import { newProof } from '../support/proofs.ts'

const key = newKey('ES256')
const redis = await startRedis(t)
/** The lifetime of a proof, by the clock of the pod that checks it. */
const lifetimeMs = 60_000

const proofOf = (iatMs: number): string => newProof(key, { uri: `${issuer}/token`, nowMs: iatMs })

/** A pod whose clock differs by this much from that of Redis, and its answer to a proof. */
const startPod = async (t: Test, aheadMs: number): Promise<(proof: string) => Promise<Answer>> => {
  const clock = createManualClock(Date.now() + aheadMs)
  const url = parseStoreUrl(redis.url)
  if ('problem' in url) throw new Error(url.problem)
  const store = await openStore(url, clock)
  t.teardown(() => store.close())
  const server = await startServer(t, { dpop: { nonce: 'optional' } }, clock, store)
  return proof => server.token({ grant_type: 'client_credentials' }, { as: 'app', request: { dpop: [proof] } })
}

const replayKeys = async (): Promise<readonly string[]> => redis.client.keys('sidegate:replay:dpop:*')

t.test('a proof that was used at a pod 30 s ahead stays used up for as long as the others accept it', async t => {
  const [ahead, right] = [await startPod(t, 30_000), await startPod(t, 0)]
  const iatMs = Date.now() - 25_000
  const proof = proofOf(iatMs)
  t.equal((await ahead(proof)).status, 200)
  const [name = ''] = await replayKeys()
  const rememberedUntilMs = Date.now() + (await redis.client.pttl(name))

  t.ok(rememberedUntilMs > iatMs + lifetimeMs + 60_000, 'by a minute longer than a pod with the right clock accepts it')
  const again = await right(proof)
  t.equal(again.status, 400)
  t.match(again.body.error_description, /used before/)
})

t.test('a pod that is far behind refuses a proof whose record may have expired in Redis', async t => {
  const behind = await startPod(t, -300_000)
  const before = await replayKeys()
  const proof = proofOf(Date.now() - 300_000)

  for (let n = 0; n < 2; n++) t.equal((await behind(proof)).body.error, 'invalid_dpop_proof')
  t.same(await replayKeys(), before)
})
