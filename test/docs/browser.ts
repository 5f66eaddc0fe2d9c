import { createCookieJar } from '../oauth/support/cookie-jar.ts'

/** What alice's browser does with an address: it goes where it is sent, signs in, and allows what is asked. Ends at a page without a form of Sidegate's. */
export const browse = async (start: URL): Promise<void> => {
  const jar = createCookieJar()

  /** The page that is shown in the end. Cookies go to the first origin alone. */
  const open = async (url: URL, body?: URLSearchParams): Promise<{ readonly url: URL; readonly html: string }> => {
    const headers = url.origin === start.origin ? { cookie: jar.header() } : {}
    const answer = await fetch(url, { redirect: 'manual', headers, ...(body && { method: 'POST', body }) })
    jar.take(answer.headers.getSetCookie())
    const next = answer.headers.get('location')
    return next === null ? { url, html: await answer.text() } : open(new URL(next, url))
  }

  let page = await open(start)
  for (const fields of [{ username: 'alice', password: 'wonderland' }, { decision: 'allow' }]) {
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1]
    if (csrf !== undefined) page = await open(page.url, new URLSearchParams({ csrf, ...fields }))
  }
}
