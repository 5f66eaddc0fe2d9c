import type { Html } from '../html.ts'

/** Every text of the pages in one language. Each language is a file in this folder. */
export interface Texts {
  /** The language tag (RFC 5646), for the `lang` attribute. */
  readonly lang: string
  readonly signIn: SignInTexts
  readonly consent: ConsentTexts
  readonly messages: Readonly<Record<MessageName, MessageTexts>>
  /** Introduces a sentence in English for the developers of the client. */
  readonly forDevelopers: string
}

export interface SignInTexts {
  readonly title: (client: string) => string
  readonly failedTitle: (client: string) => string
  readonly heading: string
  readonly lead: (client: Html) => Html
  readonly username: string
  readonly password: string
  readonly submit: string
  readonly cancel: string
  readonly wrong: string
  /** Added to `wrong` before the last try. */
  readonly lastTry: string
  readonly tooMany: (waitSec: number) => string
}

export interface ConsentTexts {
  readonly heading: (client: string) => string
  readonly signedInAs: (username: Html) => Html
  readonly asksFor: (client: string) => string
  readonly nothing: string
  readonly allow: string
  readonly deny: string
  readonly back: (destination: Html) => Html
  /** An app whose redirect URI has a private-use scheme. */
  readonly app: (scheme: string) => string
  /** Descriptions of scopes that have a standard meaning. The page shows other scopes by their name alone. */
  readonly scopes: Readonly<Record<string, string>>
}

/** A page without a form. */
export interface MessageTexts {
  readonly title: string
  /** For the user: the cause, and the next step, in one to three sentences. */
  readonly text: string
}

export type MessageName =
  | 'answeredElsewhere'
  | 'busy'
  | 'expired'
  | 'finished'
  | 'foreign'
  | 'unaddressed'
  | 'unreadable'
  | 'refused'
  | 'refusedSlow'
  | 'refusedTooMany'
  | 'refusedBroken'
  | 'refusedUnavailable'
