import type { Test } from 'tap'
import { testAdoptedGrants } from './stores/adopted-grants.ts'
import { testCaps } from './stores/caps.ts'
import { testClients } from './stores/clients.ts'
import { testCodes } from './stores/codes.ts'
import { testCutoffs } from './stores/cutoffs.ts'
import { testFeeds } from './stores/feeds.ts'
import { testInteractions } from './stores/interactions.ts'
import { testKeys } from './stores/keys.ts'
import { testTokens } from './stores/opaque-tokens.ts'
import { testPushedRequests } from './stores/pushed-requests.ts'
import { testRaces } from './stores/races.ts'
import { testRefresh } from './stores/refresh-tokens.ts'
import { testReplays } from './stores/replays.ts'
import { testRevocations } from './stores/revocations.ts'
import type { OpenStore } from './stores/store-under-test.ts'
import { testSubjects } from './stores/subjects.ts'
import { testWantedTokens } from './stores/wanted-tokens.ts'

/** Everything `stores/ports/` promises, for one adapter. */
export const testStore = (t: Test, open: OpenStore): void => {
  t.test('keys', t => testKeys(t, open))
  t.test('codes', t => testCodes(t, open))
  t.test('refresh tokens', t => testRefresh(t, open))
  t.test('grants copied from another store', t => testAdoptedGrants(t, open))
  t.test('opaque tokens', t => testTokens(t, open))
  t.test('opaque tokens that are issued together with their grant', t => testWantedTokens(t, open))
  t.test('revocations', t => testRevocations(t, open))
  t.test('cutoffs', t => testCutoffs(t, open))
  t.test('feeds', t => testFeeds(t, open))
  t.test('interactions', t => testInteractions(t, open))
  t.test('limits for records of unauthenticated clients', t => testCaps(t, open))
  t.test('one-time proofs', t => testReplays(t, open))
  t.test('subjects of the login', t => testSubjects(t, open))
  t.test('pushed requests', t => testPushedRequests(t, open))
  t.test('clients', t => testClients(t, open))
  t.test('racing processes', t => testRaces(t, open))
}
