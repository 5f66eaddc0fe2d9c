import type { ClientStore } from '../ports/clients.ts'
import type { FeedStore } from '../ports/feeds.ts'
import type { NotBeforeStore } from '../ports/not-before.ts'
import type { RevocationStore } from '../ports/revocations.ts'

interface Feeds {
  readonly revocations: RevocationStore
  readonly cutoffs: NotBeforeStore
  readonly clients: ClientStore
}

/** After every place, so that a reader gets only the last one. */
const beyondAll = 'Infinity'

export const createFeeds = ({ revocations, cutoffs, clients }: Feeds): FeedStore => ({
  ends: async () => ({
    revocations: (await revocations.since(beyondAll)).cursor,
    cutoffs: (await cutoffs.since(beyondAll)).cursor,
    clients: await clients.since(beyondAll, () => undefined),
  }),
})
