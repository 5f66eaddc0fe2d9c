/** The feeds of a store: revocations, not-before records, and clients. */
export interface FeedStore {
  /**
   * A text for the end of each feed that changes if and only if the feed changes. Every process calls this all the time
   * instead of the three `since`, so it is cheap.
   */
  ends(): Promise<FeedEnds>
}

export type FeedName = 'revocations' | 'cutoffs' | 'clients'

export type FeedEnds = Readonly<Record<FeedName, string>>
