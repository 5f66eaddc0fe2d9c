import type { Test } from 'tap'
import { newId, newToken } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testTokens = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { tokens } = store
  const farMs = clock.nowMs() + 600_000

  t.test('a saved token is found by its digest within its grant, until it is removed', async t => {
    const [grantId, digest] = [newId(), newId()]
    const record = newToken(grantId)
    await tokens.save(grantId, digest, record, farMs)

    t.same(await tokens.find(grantId, digest), record)
    t.equal(await tokens.find(grantId, newId()), undefined)
    t.equal(await tokens.find(newId(), digest), undefined)
    await tokens.remove(newId(), digest)
    t.same(await tokens.find(grantId, digest), record)
    await tokens.remove(grantId, digest)
    await tokens.remove(grantId, digest)
    t.equal(await tokens.find(grantId, digest), undefined)
  })
  t.test('a token is gone with its grant, and alone when its jti is revoked', async t => {
    const grantId = newId()
    const [one, two] = [newToken(grantId), newToken(grantId)]
    await tokens.save(grantId, one.jti, one, farMs)
    await tokens.save(grantId, two.jti, two, farMs)

    await store.revocations.revoke(one.jti, farMs)
    t.equal(await tokens.find(grantId, one.jti), undefined)
    t.same(await tokens.find(grantId, two.jti), two)
    await store.revocations.revoke(grantId, farMs)
    t.equal(await tokens.find(grantId, two.jti), undefined)
  })
  t.test('a token goes when its time has come', async t => {
    const [grantId, digest] = [newId(), newId()]
    await tokens.save(grantId, digest, newToken(grantId), clock.nowMs() + shortMs)
    t.ok(await tokens.find(grantId, digest))
    await elapse(shortMs)

    t.equal(await tokens.find(grantId, digest), undefined)
  })
}
