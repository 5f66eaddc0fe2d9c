import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { type ClientChange, type ClientStore, forgottenForMs, type TakeChanges } from '../../stores/ports/clients.ts'
import type { FeedWatch } from '../feed-watch.ts'
import { keepLostDisabled, type LostClients } from './data-loss.ts'
import { createStoredClients, type StoredClient, type StoredClients } from './stored-clients.ts'

/**
 * The clients of the store, and which clients are disabled, in memory, so that requests do not query the store. At
 * most one second old.
 */
export interface ClientSync extends Pick<StoredClients, 'get' | 'ids' | 'groups' | 'maxSecretsPerKind'> {
  /**
   * Calls `listener` after each change.
   * @param listener receives the client_id that changed; undefined: any client may have changed
   * @returns a function that unsubscribes
   */
  follow(listener: (client_id: string | undefined) => void): () => void
  /** Resolves after the first query of the store; then undefined. Never rejects. */
  readonly starting: Promise<void> | undefined
  close(): void
}

export interface ClientSyncReport {
  /** Awaited before the first client of the store is used here. */
  beforeFirst(): Promise<void>
  /** Called for each change after the first read. */
  changed(change: ClientChange, before: StoredClient | undefined, after: StoredClient | undefined): void
  /** Called when the store has lost clients that this process knew. */
  lost(clients: LostClients): void
}

/** This many changes are applied in a few milliseconds; then pending requests run. */
const changesPerTurn = 100

/** Follows the store's clients. While the store is unavailable, the known clients stay as they are. */
export const createClientSync = (
  store: ClientStore,
  watch: FeedWatch,
  clock: Clock,
  report: ClientSyncReport,
): ClientSync => {
  const listeners = new Set<(client_id: string | undefined) => void>()
  let known = createStoredClients()
  let cursor: string | undefined
  let askedAtMs = clock.nowMs()
  let hasReportedFirst = false
  let starting: Promise<void> | undefined

  /** After a long outage the tombstones of deleted clients may have expired, so everything is read. */
  const cursorNow = (): string | undefined => {
    const awayMs = clock.nowMs() - askedAtMs
    // A clock that was set back does not show how long the outage was. A monotonic clock may stop while the machine
    // sleeps.
    return awayMs >= 0 && awayMs < forgottenForMs / 2 ? cursor : undefined
  }

  const read = async (): Promise<void> => {
    let whole: StoredClients | undefined
    const changes: ClientChange[] = []
    const forgotten = new Set<string>()
    const take: TakeChanges = (part, isWhole) => {
      if (!isWhole) return void changes.push(...part)
      whole ??= createStoredClients()
      part.forEach(whole.set)
      for (const { client_id, record } of part) if (!record) forgotten.add(client_id)
    }
    const nowMs = clock.nowMs()
    const next = await store.since(cursorNow(), take)
    if (!hasReportedFirst && (whole ? hasAny(whole) : changes.length > 0)) {
      await report.beforeFirst()
      hasReportedFirst = true
    }
    if (whole) adopt(whole, forgotten)
    await applyAll(changes)
    cursor = next
    askedAtMs = nowMs
  }
  const adopt = (whole: StoredClients, forgotten: ReadonlySet<string>): void => {
    const lost = keepLostDisabled(known, whole, forgotten)
    known = whole
    if (lost.count > 0) report.lost(lost)
    for (const notify of listeners) notify(undefined)
  }
  const applyAll = async (changes: readonly ClientChange[]): Promise<void> => {
    for (const [nth, change] of changes.entries()) {
      apply(change)
      if (nth % changesPerTurn === changesPerTurn - 1) await nextTurn()
    }
  }
  const apply = (change: ClientChange): void => {
    const { client_id, version } = change
    const before = known.get(client_id)
    // The store may return a change again.
    if (before?.version === version) return
    known.set(change)
    for (const notify of listeners) notify(client_id)
    report.changed(change, before, known.get(client_id))
  }
  // Requests that need the store report that it is unavailable.
  const subscription = watch.follow(['clients'], { read, settled: () => undefined })
  starting = subscription.first.then(() => {
    starting = undefined
  })
  return {
    get: client_id => known.get(client_id),
    ids: () => known.ids(),
    groups: () => known.groups(),
    maxSecretsPerKind: () => known.maxSecretsPerKind(),
    follow(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    get starting() {
      return starting
    },
    close: subscription.close,
  }
}

const hasAny = ({ ids }: StoredClients): boolean => !ids()[Symbol.iterator]().next().done
