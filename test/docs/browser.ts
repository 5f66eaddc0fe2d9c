import { createCookieJar } from '../oauth/support/cookie-jar.ts'

/**
 * Opens an address as the browser of alice: follows redirects, signs in, and consents.
 * Ends at a page without a form of Sidegate.
 */
export const browse = async (start: URL): Promise<void> => {
  const jar = createCookieJar()

  /** The last page after all redirects. Cookies are sent to the first origin only. */
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
