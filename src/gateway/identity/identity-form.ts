/** How an upstream is told who is calling: `X-Sidegate-*` headers, a signed `X-Sidegate-Assertion`, or both. */
export const identityForms = ['headers', 'assertion', 'both'] as const
export type IdentityForm = (typeof identityForms)[number]
