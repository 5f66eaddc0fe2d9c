import { createCookieJar } from '../../support/cookie-jar.ts'

/** One window of alice's browser, from an authorization request to its end. */
export interface BrowserWindow {
  signIn(): Promise<void>
  /** Where the browser is sent in the end; undefined: it is left with a page. */
  allow(): Promise<URL | undefined>
  decline(): Promise<URL | undefined>
}

/** Opens an authorization request in a window with cookies of its own. */
export const openWindow = async (authorizationUrl: URL): Promise<BrowserWindow> => {
  const begun = await fetch(authorizationUrl, { redirect: 'manual' })
  const page = new URL(begun.headers.get('location') ?? '', authorizationUrl)
  const jar = createCookieJar()
  jar.take(begun.headers.getSetCookie())

  const submit = async (fields: Readonly<Record<string, string>>): Promise<URL | undefined> => {
    const html = await (await fetch(page, { headers: { cookie: jar.header() } })).text()
    const csrf = /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const answer = await fetch(page, {
      method: 'POST',
      headers: { cookie: jar.header() },
      body: new URLSearchParams({ csrf, ...fields }),
      redirect: 'manual',
    })
    jar.take(answer.headers.getSetCookie())
    const location = answer.headers.get('location')
    return location === null ? undefined : new URL(location, page)
  }
  return {
    signIn: async () => void (await submit({ username: 'alice', password: 'wonderland' })),
    allow: () => submit({ decision: 'allow' }),
    decline: () => submit({ decision: 'deny' }),
  }
}
