/** The cookies of a browser for one interaction. */
export interface CookieJar {
  /** Keeps the cookies that a response sets, and drops those that it removes. */
  take(setCookie: string | readonly string[] | undefined): void
  /** The `Cookie` header of the next request. */
  header(): string
}

export const createCookieJar = (): CookieJar => {
  const cookies = new Map<string, string>()
  return {
    take: (setCookie = []) => {
      for (const line of typeof setCookie === 'string' ? [setCookie] : setCookie) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (/; Max-Age=0(;|$)/.test(line)) cookies.delete(name)
        else cookies.set(name, value)
      }
    },
    header: () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  }
}
