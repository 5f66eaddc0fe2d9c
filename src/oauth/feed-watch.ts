import { type Poll, poll } from '../poll.ts'
import type { FeedEnds, FeedName, FeedStore } from '../stores/ports/feeds.ts'

/** Says when there is something new in the store's feeds: one question for all who follow one. Less than a second late. */
export interface FeedWatch {
  /** Has the reader read now, and from then on whenever there may be something new in one of these feeds. */
  follow(feeds: readonly FeedName[], reader: FeedReader): FeedSubscription
  close(): void
}

export interface FeedReader {
  /** Reads what is new. Where it rejects it is called again soon. Never called while it is under way. */
  read(): Promise<void>
  /** Told what came of it, and of each question whether there is anything new. @param error undefined: it was answered */
  settled(error: unknown): void
}

export interface FeedSubscription {
  /** Resolves when the first reading is over, whatever came of it. */
  readonly first: Promise<void>
  close(): void
}

/**
 * A change is known everywhere within five quarters of this time and two round trips; the contract allows one second. A worker's
 * heartbeats fall on every second question, so that they wake an idle worker no more often.
 */
const pollIntervalMs = 750

/** How often all is read whatever the ends say, counted in questions: the places of a Redis that took over may be behind. */
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
  /** Reads next time, whatever the ends are. */
  forget(): void
}

const createFollower = (feeds: readonly FeedName[], reader: FeedReader): Follower => {
  /** Where the feeds ended before the last reading; undefined: what is new is not known. */
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
