import type { Test } from 'tap'
import type { GrantRecord } from '../../../src/stores/ports/grant-record.ts'
import type { NewGrant } from '../../../src/stores/ports/grants.ts'
import { completeToken, type TokenDraft } from '../../../src/stores/ports/token-draft.ts'
import { grantRecord, newDraft, newGrant, newId, redeemedGrant, redemptionOf, refreshOf } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

/** The claims about the user in a token of `grantRecord`. */
const ofPerson = {
  sub: grantRecord.sub,
  username: grantRecord.username,
  acr: grantRecord.acr,
  auth_time: grantRecord.authTimeSec,
}

export const testWantedTokens = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { grants, tokens } = store

  const newCode = async (changes: Partial<GrantRecord> = {}): Promise<NewGrant> => {
    const grant = newGrant(clock.nowMs(), { record: { ...grantRecord, ...changes } })
    await grants.create(grant)
    return grant
  }
  /** A redemption that asks for this token, under a new digest. */
  const wanting = (grant: NewGrant, changes: Partial<TokenDraft> = {}) => {
    const draft = newDraft(grant.grantId, clock.nowMs(), changes)
    const digest = newId()
    return { draft, digest, redemption: redemptionOf(grant, clock.nowMs(), { token: { draft, digest } }) }
  }

  t.test('a redemption stores its token, with the granted scope and resources', async t => {
    const grant = await newCode()
    const { draft, digest, redemption } = wanting(grant, { cnf: { jkt: 'one' } })
    const { jti, client_id, iat, exp, cnf } = draft

    t.match(await grants.redeem(redemption), { kind: 'redeemed', record: grantRecord })

    const { scope } = grantRecord
    const record = { jti, client_id, ...ofPerson, scope, aud: 'https://api.example/accounts', iat, exp, cnf }
    t.same(await tokens.find(grant.grantId, digest), record)
    t.same(await tokens.findAny(grant.grantId, digest), { kind: 'access', record })
    t.match(await tokens.findAny(grant.grantId, `first ${grant.grantId}`), { kind: 'refresh' })
    t.equal(await tokens.find(grant.grantId, newId()), undefined)
  })
  t.test('a token has at most the scopes of its draft, and the requested resources', async t => {
    const resource = ['https://api.example/a', 'https://api.example/b', 'https://api.example/c']
    const drafts: readonly Partial<TokenDraft>[] = [
      { scopes: ['accounts:write', 'offline_access'] },
      { scopes: [] },
      { resources: ['https://api.example/c', 'https://api.example/a', 'https://api.example/c'] },
      { resources: ['https://api.example/b'] },
    ]
    const found = []
    for (const changes of drafts) {
      const grant = await newCode({ resource })
      const { digest, draft, redemption } = wanting(grant, changes)
      await grants.redeem(redemption)
      const token = await tokens.find(grant.grantId, digest)
      t.same(token, completeToken(draft, { ...grantRecord, resource }))
      found.push([token?.scope, token?.aud])
    }

    t.same(found, [
      ['offline_access', resource],
      ['', resource],
      [grantRecord.scope, ['https://api.example/c', 'https://api.example/a']],
      [grantRecord.scope, 'https://api.example/b'],
    ])
  })
  t.test('if the grant has no resource, any may be requested; without one the token is for the issuer', async t => {
    const found = []
    for (const resources of [[], ['https://api.example/a']]) {
      const grant = await newCode({ resource: [] })
      const { digest, redemption } = wanting(grant, { resources })
      t.match(await grants.redeem(redemption), { kind: 'redeemed' })
      found.push((await tokens.find(grant.grantId, digest))?.aud)
    }

    t.same(found, ['https://auth.example', 'https://api.example/a'])
  })
  t.test('texts with unusual characters are returned unchanged', async t => {
    const odd = { sub: '"}\\u0000{"grant":', username: 'ä €\u2028 \\" \n 💥', acr: '%s%1' }
    const grant = await newCode(odd)
    const { digest, redemption } = wanting(grant, { client_id: '{"draft":"\\"}' })

    await grants.redeem(redemption)

    const { acr, ...person } = odd
    t.match(await tokens.find(grant.grantId, digest), { ...person, acr, client_id: '{"draft":"\\"}' })
  })
  t.test('a resource outside the grant is reported, and the code is not spent', async t => {
    const grant = await newCode()
    const exceeding = wanting(grant, { resources: ['https://api.example/accounts', 'https://api.example/account'] })
    const fitting = wanting(grant, { resources: ['https://api.example/accounts'] })

    t.same(await grants.redeem(exceeding.redemption), { kind: 'exceeds', by: 'resource' })

    t.equal(await tokens.find(grant.grantId, exceeding.digest), undefined)
    t.equal(await tokens.findAny(grant.grantId, `first ${grant.grantId}`), undefined)
    t.match(await grants.redeem(fitting.redemption), { kind: 'redeemed' })
    t.match(await tokens.find(grant.grantId, fitting.digest), { aud: 'https://api.example/accounts' })
    t.match(await grants.redeem(exceeding.redemption), { kind: 'replayed' })
  })
  t.test('a client that may not redeem the code does not learn its scope or its resources', async t => {
    const grant = await newCode()
    const { redemption } = wanting(grant, { resources: ['https://api.example/other'] })

    t.same(await grants.redeem({ ...redemption, codeProofs: [newId()] }), { kind: 'refused' })
    t.same(await grants.redeem({ ...redemption, nowMs: grant.codeExpiresAtMs }), { kind: 'refused' })
  })
  t.test('a refused or replayed redemption stores no token', async t => {
    const grant = await newCode()
    const { draft, digest, redemption } = wanting(grant)
    const [refused, replayed] = [newId(), newId()]

    await grants.redeem({ ...redemption, codeProofs: [newId()], token: { draft, digest: refused } })
    await grants.redeem(redemption)
    await grants.redeem({ ...redemption, token: { draft, digest: replayed } })

    t.equal(await tokens.find(grant.grantId, refused), undefined)
    t.equal(await tokens.find(grant.grantId, replayed), undefined)
    t.ok(await tokens.find(grant.grantId, digest))
  })
  t.test('a self-contained token is not stored', async t => {
    const grant = await newCode()
    const { draft, redemption } = wanting(grant)

    t.match(await grants.redeem({ ...redemption, token: { draft } }), { kind: 'redeemed' })

    t.equal(await tokens.find(grant.grantId, ''), undefined)
  })
  t.test('a refresh stores its token, whether it rotates, repeats in the reuse window, or does not rotate', async t => {
    const grant = await redeemedGrant(store, clock.nowMs())
    const [rotating, again, keeping] = [newId(), newId(), newId()]
    const draft = newDraft(grant.grantId, clock.nowMs(), { scopes: ['accounts:read'] })
    const attempt = (digest: string) => refreshOf(grant, clock.nowMs(), { token: { draft, digest } })

    t.match(await grants.refresh({ ...attempt(rotating), successorDigest: 'second' }), { kind: 'valid' })
    t.match(await grants.refresh({ ...attempt(again), successorDigest: 'second' }), { kind: 'valid' })
    t.match(await grants.refresh({ ...attempt(keeping), digest: 'second' }), { kind: 'valid' })

    for (const digest of [rotating, again, keeping])
      t.match(await tokens.find(grant.grantId, digest), { ...ofPerson, jti: draft.jti, scope: 'accounts:read' })
  })
  t.test('a refused refresh stores no token, and a request for too much spends nothing', async t => {
    const grant = await redeemedGrant(store, clock.nowMs())
    const digest = newId()
    const draft = newDraft(grant.grantId, clock.nowMs())
    const rotation = refreshOf(grant, clock.nowMs(), { successorDigest: 'second', token: { draft, digest } })
    const toofar = { draft: { ...draft, resources: ['https://api.example'] }, digest }

    t.same(await grants.refresh({ ...rotation, client_id: 'demo2' }), { kind: 'refused' })
    t.match(await grants.refresh({ ...rotation, digest: newId() }), { kind: 'superseded' })
    t.same(await grants.refresh({ ...rotation, token: toofar }), { kind: 'exceeds', by: 'resource' })
    t.same(await grants.refresh({ ...rotation, scopes: ['accounts:write'] }), { kind: 'exceeds', by: 'scope' })
    t.equal(await tokens.find(grant.grantId, digest), undefined)

    t.match(await grants.refresh({ ...rotation, reuseWindowMs: 0 }), { kind: 'valid' })
    t.ok(await tokens.find(grant.grantId, digest))
  })
  t.test('such a token is revoked with its grant, with its jti, and when it is removed', async t => {
    const grant = await redeemedGrant(store, clock.nowMs())
    const newToken = async () => {
      const [digest, draft] = [newId(), newDraft(grant.grantId, clock.nowMs())]
      await grants.refresh(refreshOf(grant, clock.nowMs(), { token: { draft, digest } }))
      return { digest, jti: draft.jti }
    }
    const [removed, revoked, kept] = [await newToken(), await newToken(), await newToken()]

    await tokens.remove(grant.grantId, removed.digest)
    await store.revocations.revoke(revoked.jti, clock.nowMs() + 600_000)
    t.equal(await tokens.find(grant.grantId, removed.digest), undefined)
    t.equal(await tokens.find(grant.grantId, revoked.digest), undefined)
    t.equal(await tokens.findAny(grant.grantId, revoked.digest), undefined)
    t.match(await tokens.find(grant.grantId, kept.digest), { jti: kept.jti })
    await store.revocations.revoke(grant.grantId, clock.nowMs() + 600_000)
    t.equal(await tokens.find(grant.grantId, kept.digest), undefined)
  })
  t.test('such a token expires with its grant', async t => {
    const endsAtSec = Math.floor(clock.nowMs() / 1000) + 100
    const grant = await redeemedGrant(store, clock.nowMs(), { untilMs: endsAtSec * 1000 + 999 })
    const found = []
    for (const exp of [endsAtSec - 1, endsAtSec, endsAtSec + 1, endsAtSec + 600]) {
      const [digest, draft] = [newId(), newDraft(grant.grantId, clock.nowMs(), { exp })]
      await grants.refresh(refreshOf(grant, clock.nowMs(), { token: { draft, digest } }))
      found.push((await tokens.find(grant.grantId, digest))?.exp)
    }

    t.same(found, [endsAtSec - 1, endsAtSec, endsAtSec, endsAtSec])
  })
  t.test('such a token expires at its exp, and its grant stays', async t => {
    const grant = await newCode()
    const { digest, redemption } = wanting(grant, { exp: (clock.nowMs() + shortMs) / 1000 })
    await grants.redeem(redemption)
    t.ok(await tokens.find(grant.grantId, digest))
    await elapse(shortMs)

    t.equal(await tokens.find(grant.grantId, digest), undefined)
    t.match(await tokens.findAny(grant.grantId, `first ${grant.grantId}`), { kind: 'refresh' })
  })
}
