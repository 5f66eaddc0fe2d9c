import type { LogField } from './log-fields.ts'

/**
 * How much is logged: `changes` are changes and refusals, `issues` adds each issued token, `all` adds each
 * introspection.
 */
export const auditScopes = ['changes', 'issues', 'all'] as const
export type AuditScope = (typeof auditScopes)[number]

/** The declaration of an audit line's `action`: an event that an auditor of this gateway wants to find later. */
interface AuditActionDeclaration {
  readonly outcome: 'success' | 'failure'
  /** The smallest scope that includes the line. */
  readonly scope: AuditScope
  /**
   * The fields of the line. They never contain a token, a code, a secret, or an unknown user name, because that may be
   * a password in the wrong field.
   */
  readonly fields: readonly LogField[]
  /** Fields that the line has only if they are known. */
  readonly optional: readonly LogField[]
  readonly when: string
}

export const auditActions = {
  token_issued: {
    outcome: 'success',
    scope: 'issues',
    fields: ['client_id', 'sub', 'grant_type', 'format', 'jti', 'address', 'request_id'],
    optional: ['scope'],
    when: 'a client was issued an access token',
  },
  token_refused: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: [],
    when: 'an authenticated client was refused an access token; `reason` is the error of the response, for example `rate_limit_exceeded` over its plan or `temporarily_unavailable` if the store does not answer',
  },
  token_introspected: {
    outcome: 'success',
    scope: 'all',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: [],
    when: 'a client introspected a token; `reason` is `active` or `inactive`',
  },
  token_revoked: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: ['sub', 'jti'],
    when: 'a client revoked a token; `reason` is `access_token`, or `refresh_token`, with which all tokens of its grant are revoked',
  },
  revocation_refused: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: [],
    when: 'an authenticated client tried to revoke a token and got this error (`reason`); the token may still be valid',
  },
  reuse_detected: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: ['sub'],
    when: 'a `code` or `refresh_token` (the `reason`) was used a second time, so all tokens of its grant were revoked',
  },
  client_refused: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['reason', 'address', 'request_id'],
    optional: ['client_id'],
    when: 'the authentication of a client failed; `reason` is a value of `error_code`, or `missing`',
  },
  client_blocked: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['reason', 'address', 'request_id'],
    optional: ['client_id'],
    when: 'the authentication of a client failed too often, so its attempts are refused for a while without a check',
  },
  signed_in: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id', 'sub', 'address', 'request_id'],
    optional: [],
    when: "a user gave the right password on Sidegate's own pages",
  },
  sign_in_refused: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'address', 'request_id'],
    optional: ['sub'],
    when: "a user gave a wrong password on Sidegate's own pages; without `sub` if no user has that name",
  },
  sign_in_blocked: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'address', 'request_id'],
    optional: ['sub'],
    when: "a user gave a wrong password on Sidegate's own pages too often, so attempts are refused for a while",
  },
  consent_given: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id', 'sub', 'address', 'request_id'],
    optional: ['scope'],
    when: 'a user consented, and the client gets a code',
  },
  consent_declined: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: ['sub'],
    when: 'a user, or your own login application, declined consent; `reason` is the error that the client gets',
  },
  tokens_revoked: {
    outcome: 'success',
    scope: 'changes',
    fields: ['reason'],
    optional: ['client_id', 'sub'],
    when: 'an operator revoked all tokens of a client, of a subject, or of a subject at a client; `reason` is `operator`',
  },
  key_published: {
    outcome: 'success',
    scope: 'changes',
    fields: ['kid', 'alg', 'active_at'],
    optional: [],
    when: 'a new signing key was added to the key set; logged up to ten seconds later',
  },
  key_signing: {
    outcome: 'success',
    scope: 'changes',
    fields: ['kid', 'alg'],
    optional: [],
    when: 'a signing key signs from now on; logged up to ten seconds later',
  },
  key_retiring: {
    outcome: 'success',
    scope: 'changes',
    fields: ['kid', 'alg'],
    optional: [],
    when: 'another key signs in place of this one, whose signatures are still valid; logged up to ten seconds later',
  },
  key_gone: {
    outcome: 'success',
    scope: 'changes',
    fields: ['kid', 'alg'],
    optional: [],
    when: 'a signing key was removed from the key set, because no token that it signed is valid any longer; logged up to ten seconds later',
  },
  client_created: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id'],
    optional: [],
    when: 'an operator added a client to the store',
  },
  client_changed: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id', 'reason'],
    optional: [],
    when: 'an operator changed a client of the store; `reason` is `secret` or `members`',
  },
  client_disabled: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id'],
    optional: [],
    when: 'an operator disabled a client',
  },
  client_enabled: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id'],
    optional: [],
    when: 'an operator enabled a client',
  },
  client_deleted: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id'],
    optional: [],
    when: 'an operator deleted a client from the store',
  },
} as const satisfies Readonly<Record<string, AuditActionDeclaration>>

export type AuditAction = keyof typeof auditActions
