import type { Test } from 'tap'
import { newId, newToken, redeemedGrant } from '../records.ts'
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
  t.test('a token is gone when its grant or its own jti is revoked', async t => {
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
  t.test('one lookup finds an access token or a refresh token, and its binding', async t => {
    const grant = await redeemedGrant(store, clock.nowMs(), { binding: 'jkt one' })
    const [{ grantId, record }, digest] = [grant, newId()]
    const token = { ...newToken(grantId), cnf: { jkt: 'one' } }
    await tokens.save(grantId, digest, token, farMs)

    t.same(await tokens.findAny(grantId, digest), { kind: 'access', record: token })
    t.match(await tokens.findAny(grantId, `first ${grantId}`), { kind: 'refresh', record, binding: 'jkt one' })
    t.equal(await tokens.findAny(grantId, newId()), undefined)
    t.equal(await tokens.findAny(newId(), digest), undefined)
    t.equal(await tokens.findAny(grantId, grant.codeDigest), undefined)
  })
  t.test('one lookup finds no token that is removed, revoked or of a revoked grant', async t => {
    const { grantId } = await redeemedGrant(store, clock.nowMs())
    const [removed, revoked, kept] = [newToken(grantId), newToken(grantId), newToken(grantId)]
    for (const token of [removed, revoked, kept]) await tokens.save(grantId, token.jti, token, farMs)

    await tokens.remove(grantId, removed.jti)
    await store.revocations.revoke(revoked.jti, farMs)
    t.equal(await tokens.findAny(grantId, removed.jti), undefined)
    t.equal(await tokens.findAny(grantId, revoked.jti), undefined)
    t.match(await tokens.findAny(grantId, kept.jti), { kind: 'access', record: kept })
    t.match(await tokens.findAny(grantId, `first ${grantId}`), { kind: 'refresh' })
    await store.revocations.revoke(grantId, farMs)
    t.equal(await tokens.findAny(grantId, kept.jti), undefined)
    t.equal(await tokens.findAny(grantId, `first ${grantId}`), undefined)
  })
  t.test('a refresh token is not found after its end', async t => {
    const { grantId } = await redeemedGrant(store, clock.nowMs(), { untilMs: clock.nowMs() + shortMs })
    await elapse(shortMs)

    t.equal(await tokens.findAny(grantId, `first ${grantId}`), undefined)
  })
  t.test('a token is removed at its expiry', async t => {
    const [grantId, digest] = [newId(), newId()]
    await tokens.save(grantId, digest, newToken(grantId), clock.nowMs() + shortMs)
    t.ok(await tokens.find(grantId, digest))
    await elapse(shortMs)

    t.equal(await tokens.find(grantId, digest), undefined)
  })
}
