import { basic } from './authorization-server.ts'

export type Fields = Readonly<Record<string, string>>

/** One answer read whole; `body` is what it says as JSON, or `{}` where it says nothing. */
export interface Posted {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Sends a form on a connection of its own, so that the workers take turns; `as` authenticates with HTTP Basic. */
export const post = async (url: string, fields: Fields, as?: string, headers: Fields = {}): Promise<Posted> => {
  const authorization: Fields = as === undefined ? {} : { authorization: basic(as, `${as}-secret`) }
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { connection: 'close', ...authorization, ...headers },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text === '' ? {} : JSON.parse(text) }
}
