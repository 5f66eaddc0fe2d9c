/** The feeds of a store: what was revoked, the cutoffs, and the clients. */
export interface FeedStore {
  /**
   * Where each feed ends: another text after each change of it, and the same as long as nothing has changed. One question in place
   * of three `since`, asked all the time by every process: it costs next to nothing.
   */
  ends(): Promise<FeedEnds>
}

export type FeedName = 'revocations' | 'cutoffs' | 'clients'

export type FeedEnds = Readonly<Record<FeedName, string>>
