/**
 * The subjects (`sub`) that the operator's own login has returned, as digests, because no client may have one of them
 * as its id.
 */
export interface SubjectStore {
  /** Remembers a subject until `untilMs` or longer. Once this has resolved, `has` is true in every process. */
  remember(digest: string, untilMs: number): Promise<void>
  has(digest: string): Promise<boolean>
}
