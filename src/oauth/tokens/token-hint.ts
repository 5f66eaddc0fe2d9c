import type { Form } from '../forms/form.ts'

/**
 * Whether the caller takes its token for a refresh token. A hint only chooses where to look first; a wrong or unknown
 * one changes nothing else (RFC 7662 section 2.1, RFC 7009 section 2.1).
 */
export const isRefreshToken = (form: Form): boolean => form.get('token_type_hint') === 'refresh_token'
