import type { InteractionRecord, InteractionStore } from '../../stores/ports/interactions.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { PageContext } from '../pages/page.ts'

/** One request of the bound browser to its interaction, with the record of the interaction when the request arrived. */
export interface InteractionSession {
  readonly id: string
  /**
   * The secret that encrypts the redirect: that of the browser's cookie, and from the sign-in on that of the renewed
   * cookie. If users of the client may return in another browser, it is the resume token.
   */
  readonly secret: string
  readonly client: ClientRegistration
  readonly pageContext: PageContext
  readonly record: InteractionRecord
}

/** A session on our own pages, which have forms. */
export interface PageSession extends InteractionSession {
  /** The token that a form must contain. It is derived from the cookie that the browser sent, so it changes with it. */
  readonly csrf: string
}

/** Returns the new record, or undefined if the interaction has advanced and the change no longer applies. */
export type Change = (record: InteractionRecord) => InteractionRecord | undefined

export type Advance =
  | { readonly kind: 'advanced'; readonly record: InteractionRecord }
  /** Another request was faster and the change no longer applies; `record` is the one that it stored. */
  | { readonly kind: 'overtaken'; readonly record: InteractionRecord }
  /** The interaction has expired. */
  | { readonly kind: 'expired' }

/**
 * Applies a change to the stored interaction with a compare-and-swap, and retries if another request was faster. The
 * loop ends, because each lost round means that another request advanced the interaction towards its end.
 */
export const advance = async (interactions: InteractionStore, id: string, change: Change): Promise<Advance> => {
  for (;;) {
    const found = await interactions.find(id)
    if (!found) return { kind: 'expired' }
    const record = change(found.record)
    if (!record) return { kind: 'overtaken', record: found.record }
    if (await interactions.replace(id, found.version, record)) return { kind: 'advanced', record }
  }
}
