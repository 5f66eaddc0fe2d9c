import type { InteractionRecord, InteractionStore } from '../../stores/ports/interactions.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { PageContext } from '../pages/page.ts'

/** One request of the right browser to its interaction, and how the interaction stood when it came. */
export interface InteractionSession {
  readonly id: string
  /**
   * The key to the sealed redirect: what the browser's cookie says, from the sign-in on what it will say. Where the
   * client's people may come back in another browser, it is the resume token.
   */
  readonly secret: string
  readonly client: ClientRegistration
  /** What its pages look like. */
  readonly pageContext: PageContext
  readonly record: InteractionRecord
}

/** A visit to our own pages, which have forms. */
export interface PageSession extends InteractionSession {
  /** What a form must bring along to be this browser's: made of the cookie that it shows now, and new with each. */
  readonly csrf: string
}

/** Turns a record into what it is to be; undefined where the interaction has moved on and the change no longer fits. */
export type Change = (record: InteractionRecord) => InteractionRecord | undefined

export type Advance =
  | { readonly kind: 'advanced'; readonly record: InteractionRecord }
  /** Another request was faster and the change fits no more; `record` is what that one left. */
  | { readonly kind: 'overtaken'; readonly record: InteractionRecord }
  /** Its time ran out meanwhile. */
  | { readonly kind: 'gone' }

/**
 * Applies a change to the interaction as it is now, and again to what a faster request left, until it holds. It ends:
 * each round lost means that another request moved the interaction towards its end.
 */
export const advance = async (interactions: InteractionStore, id: string, change: Change): Promise<Advance> => {
  for (;;) {
    const found = await interactions.find(id)
    if (!found) return { kind: 'gone' }
    const record = change(found.record)
    if (!record) return { kind: 'overtaken', record: found.record }
    if (await interactions.replace(id, found.version, record)) return { kind: 'advanced', record }
  }
}
