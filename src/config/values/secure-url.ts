import { isLoopback } from './loopback.ts'

/** What is wrong with a URL that must not be read or changed on its way, and what would be right, or undefined. */
export const secureUrlFault = (text: string): string | undefined => {
  if (!/^https?:\/\/[^/]/.test(text) || !/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return expectation
  const url = new URL(text)
  if (url.username || url.password) return 'names a user; remove what stands before the @'
  if (text.includes('#')) return 'has a fragment, which is never sent; remove it'
  return url.protocol === 'https:' || isLoopback(url.hostname) ? undefined : expectation
}

const expectation = 'must be an https URL, such as https://login.example.com/sign-in; http is for loopback hosts only'
