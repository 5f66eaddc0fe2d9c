import type { Clock } from '../clock.ts'
import type { Store } from './ports/store.ts'
import { startSweeping } from './sqlite/cleanup.ts'
import { createClients } from './sqlite/clients.ts'
import { type Access, openDatabase } from './sqlite/database.ts'
import { createFeeds } from './sqlite/feeds.ts'
import { createGrants } from './sqlite/grants.ts'
import { createInteractions } from './sqlite/interactions.ts'
import { createKeys } from './sqlite/keys.ts'
import { createCutoffs } from './sqlite/not-before.ts'
import { createPushedRequests } from './sqlite/pushed-requests.ts'
import { createReplays } from './sqlite/replays.ts'
import { createRevocations } from './sqlite/revocations.ts'
import { createSubjects } from './sqlite/subjects.ts'
import { createTokens } from './sqlite/tokens.ts'

/**
 * The embedded store: one SQLite file that all processes of the machine share (`store: sqlite:FILE`). Acknowledged
 * writes survive every crash of the program. Its calls are synchronous underneath and take microseconds as long as no
 * other process writes.
 *
 * @param access with `read` the file does not change, and every call that would write throws
 * @throws Error with one line that names the file and the reason, if it cannot be opened
 */
export const openSqliteStore = async (path: string, clock: Clock, access: Access = 'write'): Promise<Store> => {
  const db = await openDatabase(path, access)
  const stopSweeping = db.isWritable ? startSweeping(db, clock) : () => undefined
  const one = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1')
  return {
    name: 'sqlite',
    hasParts: false,
    keys: createKeys(db, clock),
    grants: createGrants(db, clock),
    tokens: createTokens(db, clock),
    revocations: createRevocations(db, clock),
    cutoffs: createCutoffs(db, clock),
    interactions: createInteractions(db, clock),
    replays: createReplays(db, clock),
    subjects: createSubjects(db, clock),
    pushed: createPushedRequests(db, clock),
    clients: createClients(db, clock),
    feeds: createFeeds(db),
    ping: async () => void one.get(),
    close: async () => {
      stopSweeping()
      db.close()
    },
  }
}
