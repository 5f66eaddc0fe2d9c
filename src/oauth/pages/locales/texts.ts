import type { Html } from '../html.ts'

/** Every sentence of the pages in one language; a language is one file beside this one. */
export interface Texts {
  /** Its tag (RFC 5646), for `lang`. */
  readonly lang: string
  readonly signIn: SignInTexts
  readonly consent: ConsentTexts
  readonly messages: Readonly<Record<MessageName, MessageTexts>>
  /** Stands before a sentence in English that says more to those who build the client. */
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
  /** After `wrong`, before the last try. */
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
  /** An app that comes back by a scheme of its own. */
  readonly app: (scheme: string) => string
  /** What a scope means, for those that have a meaning everywhere. Others speak for themselves. */
  readonly scopes: Readonly<Record<string, string>>
}

/** A page that only says something. */
export interface MessageTexts {
  readonly title: string
  /** What happened and what to do now, in one or two sentences for the person in front of the browser. */
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
