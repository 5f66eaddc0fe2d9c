/** The requests that a server reads from the bytes of one connection. */
export interface Reading {
  readonly messages: readonly Message[]
  readonly end: End
}

/** One request. Only the last message of a reading can be incomplete. */
export interface Message {
  readonly method: string
  readonly target: string
  /** `1.1`, without `HTTP/`. */
  readonly version: string
  /** Names and values in turn, as they came, without the whitespace around the values. */
  readonly fields: readonly string[]
  /** The content without its chunked framing, in latin1. */
  readonly body: string
  /** False if the body has not ended, so that only its beginning is known. */
  readonly isComplete: boolean
  /** As `fields`. Empty if the server does not tell. */
  readonly trailers: readonly string[]
}

export type End =
  /** The server waits for more bytes. */
  | { readonly is: 'open' }
  /** The server reads no further because the last message ends the connection. */
  | { readonly is: 'closed' }
  /** The server hands the connection over to another protocol, together with the bytes behind the request. */
  | { readonly is: 'upgraded'; readonly rest: string }
  /** The bytes behind the messages, or inside the body of the incomplete one, are no request. */
  | { readonly is: 'refused'; readonly reason: string }

/** Values of all fields with this name. */
export const valuesOf = ({ fields }: Message, name: string): readonly string[] =>
  fields.filter((_, place) => place % 2 === 1 && fields[place - 1]?.toLowerCase() === name)

/** The comma-separated members of all fields with this name, in lower case. */
export const membersOf = (message: Message, name: string): readonly string[] =>
  valuesOf(message, name).flatMap(value => value.split(',').map(member => member.trim().toLowerCase()))
