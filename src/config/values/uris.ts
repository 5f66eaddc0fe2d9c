import { isLoopback } from './address.ts'

/** Returns a function that finds the fault of a URL that must be protected in transit, with its correction. */
export const secureUrlFault = (example: string) => {
  const expectation = `must be an https URL, such as ${example}; http is only for loopback hosts`
  return (text: string): string | undefined => findFault(text, expectation)
}

const findFault = (text: string, expectation: string): string | undefined => {
  if (!/^https?:\/\/[^/]/.test(text) || !/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return expectation
  const url = new URL(text)
  if (url.username || url.password) return 'contains user information; remove the part before the @'
  if (text.includes('#')) return 'has a fragment, which is never sent; remove it'
  return url.protocol === 'https:' || isLoopback(url.hostname) ? undefined : expectation
}

/** The fault of a resource indicator and its correction, or undefined (RFC 8707 section 2). */
export const resourceFault = (text: string): string | undefined =>
  URL.canParse(text) && /^[\x21-\x7e]+$/.test(text) && !text.includes('#')
    ? undefined
    : 'must be an absolute URI without fragment, such as https://api.example.com/accounts (RFC 8707 section 2)'
