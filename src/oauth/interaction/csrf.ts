import type { OAuthRequest } from '../protocol.ts'

/**
 * Whether the browser says that another page than ours sent this form. Browsers that say nothing are left to `csrf`. Our
 * pages have no referrer, and then `Origin` is `null` in their own forms too (Fetch section 3.2): so that one says little,
 * and `Sec-Fetch-Site` is what counts; it tells the hosts of one site apart, which share their cookies.
 */
export const isCrossOrigin = ({ fetchSite, origin }: OAuthRequest, issuer: string): boolean => {
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') return true
  return origin !== undefined && origin !== 'null' && origin !== new URL(issuer).origin
}
