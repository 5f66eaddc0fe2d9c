import { challengeOf } from '../../../../src/oauth/opaque-token.ts'
import { createCookieJar } from '../../support/cookie-jar.ts'
import { type Fields, type Posted, post, send } from '../../support/post.ts'

/** A browser with forms and cookies, and the client that redirects it to the gateway. */

export const callback = 'https://client.example/callback'
/** RFC 7636 appendix B. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

export type Parameters = Readonly<Record<string, string | undefined>>

/** A good authorization request with these changes; undefined removes a parameter. */
export const authorizationQuery = (changes: Parameters = {}): string =>
  encode({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: callback,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    ...changes,
  })

const encode = (parameters: Parameters): string =>
  Object.entries(parameters)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
    .join('&')

/** The answer of the authorization endpoint to this query. */
export const askToAuthorize = (url: string, query: string, headers: Fields = {}): Promise<Posted> =>
  send(`${url}/authorize?${query}`, { method: 'GET', type: undefined, headers })

export const locationOf = ({ headers }: Pick<Posted, 'headers'>): string => headers.get('location') ?? ''

/** The decoded parameters of a redirect; empty if there is no redirect. */
export const answerOf = (redirect: Pick<Posted, 'headers'>): Readonly<Record<string, string>> => {
  const location = locationOf(redirect)
  return location === '' ? {} : Object.fromEntries(new URL(location, 'https://sidegate.invalid').searchParams)
}

/** A browser at the page of one interaction. */
export interface Visit {
  readonly page: string
  /** The `Cookie` header that it would send now. */
  cookies(): string
  /** Loads the page, or loads it again. */
  show(): Promise<Posted>
  /** The anti-forgery token that the page has now. */
  csrf(): Promise<string | undefined>
  /** Submits the form of the page with these fields; an undefined `csrf` removes the page's own. */
  submit(fields: Parameters): Promise<Posted>
  signIn(): Promise<Posted>
}

/** Follows an authorization request to the page that it leads to. */
export const enter = async (url: string, query: string): Promise<Visit> => {
  const begun = await askToAuthorize(url, query)
  const page = new URL(locationOf(begun), url).href
  const jar = createCookieJar()
  jar.take(begun.headers.getSetCookie())
  const show = (): Promise<Posted> =>
    send(page, { method: 'GET', type: undefined, headers: { cookie: jar.header(), accept: 'text/html' } })
  const csrf = async (): Promise<string | undefined> => /name="csrf" value="([^"]+)"/.exec((await show()).text)?.[1]
  const submit = async (fields: Parameters): Promise<Posted> => {
    const headers = { cookie: jar.header(), accept: 'text/html' }
    const answer = await send(page, { body: encode({ csrf: await csrf(), ...fields }), headers })
    jar.take(answer.headers.getSetCookie())
    return answer
  }
  return {
    page,
    cookies: jar.header,
    show,
    csrf,
    submit,
    signIn: () => submit({ username: 'alice', password: 'wonderland' }),
  }
}

/** The response that alice's browser brings to the client after the consent. */
export const authorize = async (url: string, query: string): Promise<Readonly<Record<string, string>>> => {
  const visit = await enter(url, query)
  await visit.signIn()
  return answerOf(await visit.submit({ decision: 'allow' }))
}

/** A code for a good authorization request with these changes. */
export const newCode = async (url: string, changes: Parameters = {}): Promise<string> =>
  (await authorize(url, authorizationQuery(changes))).code ?? ''

/** A good redemption with these changes; `as` authenticates with HTTP Basic, null sends no credentials. */
export const redeem = (url: string, code: string, changes: Parameters = {}, as: string | null = 'app') =>
  post(
    `${url}/token`,
    present({ grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier, ...changes }),
    as ?? undefined,
  )

const present = (parameters: Parameters): Fields =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
