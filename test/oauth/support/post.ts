import { basic } from './authorization-server.ts'

export type Fields = Readonly<Record<string, string>>

/** One complete response; `body` is its parsed JSON, or `{}` if it has no JSON. */
export interface Posted {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** A request with any body and any content type. */
export interface Written {
  /** Default POST. */
  readonly method?: string
  readonly body?: string
  /** Default that of a form; an explicit undefined sends none. */
  readonly type?: string | undefined
  /** Authenticates with HTTP Basic and this client's secret. */
  readonly as?: string
  readonly headers?: Fields
  /** The connection, if a test needs certificates, trust anchors or a source address. */
  readonly fetch?: typeof globalThis.fetch
}

/** Sends it on a new connection, so that the workers take turns. */
export const send = async (url: string, written: Written): Promise<Posted> => {
  const { as, headers, body, method = 'POST', fetch = globalThis.fetch, ...rest } = written
  const type = 'type' in rest ? rest.type : 'application/x-www-form-urlencoded'
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      connection: 'close',
      ...(as !== undefined && { authorization: basic(as, `${as}-secret`) }),
      ...(type !== undefined && { 'content-type': type }),
      ...headers,
    },
    // Bytes, because `fetch` sets a content type for a text.
    ...(body !== undefined && { body: Buffer.from(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parseJson(text) }
}

/** Sends a form; `as` authenticates with HTTP Basic. */
export const post = (url: string, fields: Fields, as?: string, headers: Fields = {}): Promise<Posted> =>
  send(url, { body: new URLSearchParams(fields).toString(), headers, ...(as !== undefined && { as }) })

const parseJson = (text: string): Posted['body'] => {
  try {
    return JSON.parse(text)
  } catch {
    return {} // a page, or nothing
  }
}
