import { type Poll, poll } from '../poll.ts'
import type { FeedEnds, FeedName, FeedStore } from '../stores/ports/feeds.ts'

/** Detects news in the store's feeds with one query for all followers. The delay is less than a second. */
export interface FeedWatch {
  /** Calls `read` of the reader now, and again whenever there may be news in one of these feeds. */
  follow(feeds: readonly FeedName[], reader: FeedReader): FeedSubscription
  close(): void
}

export interface FeedReader {
  /** Reads the news. If it rejects, it is called again soon. It is never called while a call is still running. */
  read(): Promise<void>
  /** Called after each read, and after each query for news. @param error undefined: the store answered */
  settled(error: unknown): void
}

export interface FeedSubscription {
  /** Resolves when the first read has ended, whether it succeeded or not. */
  readonly first: Promise<void>
  close(): void
}

/**
 * A change is known everywhere within five quarters of this time and two round trips; the specification allows one
 * second. A worker's heartbeats coincide with every second query, so that they do not wake an idle worker more often.
 */
const pollIntervalMs = 750

/**
 * After this many queries everything is read, whatever the ends are: after a failover, the cursors of a Redis may be
 * older.
 */
const pollsPerRead = 40

export const createFeedWatch = (store: FeedStore): FeedWatch => {
  const followers = new Set<Follower>()
  let poller: Poll | undefined
  let polls = 0

  const pollOnce = async (): Promise<void> => {
    polls += 1
    if (polls % pollsPerRead === 0) for (const follower of followers) follower.forget()
    try {
      const ends = await store.ends()
      for (const follower of followers) follower.see(ends)
    } catch (error) {
      for (const follower of followers) follower.fail(error)
    }
  }
  return {
    follow(feeds, reader) {
      const follower = createFollower(feeds, reader)
      followers.add(follower)
      poller ??= poll(pollOnce, pollIntervalMs)
      return { first: follower.read(undefined), close: () => void followers.delete(follower) }
    },
    close() {
      followers.clear()
      poller?.close()
    },
  }
}

interface Follower {
  read(ends: string | undefined): Promise<void>
  see(ends: FeedEnds): void
  fail(error: unknown): void
  /** Makes the next query read, whatever the ends are. */
  forget(): void
}

const createFollower = (feeds: readonly FeedName[], reader: FeedReader): Follower => {
  /** The ends of the feeds before the last read; undefined: unknown. */
  let known: string | undefined
  let isReading = false

  const read = async (ends: string | undefined): Promise<void> => {
    isReading = true
    try {
      await reader.read()
      known = ends
      reader.settled(undefined)
    } catch (error) {
      known = undefined
      reader.settled(error)
    } finally {
      isReading = false
    }
  }
  return {
    read,
    see(ends) {
      if (isReading) return
      const now = feeds.map(feed => ends[feed]).join()
      if (now !== known) void read(now)
      else reader.settled(undefined)
    },
    fail(error) {
      known = undefined
      if (!isReading) reader.settled(error)
    },
    forget() {
      known = undefined
    },
  }
}
