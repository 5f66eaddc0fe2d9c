import type { OAuthRequest } from '../protocol.ts'

/**
 * Whether the request headers show that a page of another origin sent this form. For a browser that sends neither
 * header, only the `csrf` parameter protects. Our pages send no referrer, so `Origin` is `null` in their own forms
 * too (Fetch section 3.2) and proves little. `Sec-Fetch-Site` decides: it also distinguishes the hosts of one site,
 * which share cookies.
 */
export const isCrossOrigin = ({ fetchSite, origin }: OAuthRequest, issuer: string): boolean => {
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') return true
  return origin !== undefined && origin !== 'null' && origin !== new URL(issuer).origin
}
