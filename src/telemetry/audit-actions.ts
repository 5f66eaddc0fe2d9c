import type { LogField } from './log-fields.ts'

/** How much of what happens is told: changes and refusals, each issue besides, each introspection besides. */
export const auditScopes = ['changes', 'issues', 'all'] as const
export type AuditScope = (typeof auditScopes)[number]

/** Something that whoever has to answer for this gateway wants to find later: an audit line's `action`. */
interface AuditActionDeclaration {
  readonly outcome: 'success' | 'failure'
  /** The least scope that tells it. */
  readonly scope: AuditScope
  /** What its line has. Never a token, a code, a secret, or a name that nobody has: that may be a secret in the wrong place. */
  readonly fields: readonly LogField[]
  /** What its line has where it is known. */
  readonly optional: readonly LogField[]
  readonly when: string
}

export const auditActions = {
  token_issued: {
    outcome: 'success',
    scope: 'issues',
    fields: ['client_id', 'sub', 'grant_type', 'format', 'jti', 'address', 'request_id'],
    optional: ['scope'],
    when: 'a client got an access token',
  },
  token_refused: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: [],
    when: 'a client that has proven itself got none; `reason` is the error that it was told, `rate_limit_exceeded` over its plan and `temporarily_unavailable` without the store among them',
  },
  token_introspected: {
    outcome: 'success',
    scope: 'all',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: [],
    when: 'a client asked about a token; `reason` is `active` or `inactive`',
  },
  token_revoked: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: ['sub', 'jti'],
    when: 'a client gave a token back; `reason` is `access_token`, or `refresh_token`: then all of its grant have ended',
  },
  revocation_refused: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: [],
    when: 'a client that has proven itself gave a token back, and was told this error (`reason`): the token may still be good',
  },
  reuse_detected: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: ['sub'],
    when: 'a `code` or `refresh_token` (the `reason`) came that was spent before: all that its grant issued has ended',
  },
  client_refused: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['reason', 'address', 'request_id'],
    optional: ['client_id'],
    when: 'a client did not prove itself; `reason` is a word of `error_code`, or `missing`',
  },
  client_blocked: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['reason', 'address', 'request_id'],
    optional: ['client_id'],
    when: 'the same, once too often: it is refused unheard for a while',
  },
  signed_in: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id', 'sub', 'address', 'request_id'],
    optional: [],
    when: "a person gave the right password on Sidegate's own pages",
  },
  sign_in_refused: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'address', 'request_id'],
    optional: ['sub'],
    when: 'a wrong one; without `sub`: nobody has that name',
  },
  sign_in_blocked: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'address', 'request_id'],
    optional: ['sub'],
    when: 'the same, once too often',
  },
  consent_given: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id', 'sub', 'address', 'request_id'],
    optional: ['scope'],
    when: 'a person agreed, and the client gets a code',
  },
  consent_declined: {
    outcome: 'failure',
    scope: 'changes',
    fields: ['client_id', 'reason', 'address', 'request_id'],
    optional: ['sub'],
    when: 'a person, or your own login, did not; `reason` is the error that the client is told',
  },
  tokens_revoked: {
    outcome: 'success',
    scope: 'changes',
    fields: ['reason'],
    optional: ['client_id', 'sub'],
    when: 'an operator revoked all tokens of a client, of a subject, or of one at the other; `reason` is `operator`',
  },
  key_published: {
    outcome: 'success',
    scope: 'changes',
    fields: ['kid', 'alg', 'active_at'],
    optional: [],
    when: 'a new signing key is in the key set; of keys each line comes up to ten seconds late',
  },
  key_signing: {
    outcome: 'success',
    scope: 'changes',
    fields: ['kid', 'alg'],
    optional: [],
    when: 'it signs from now on',
  },
  key_retiring: {
    outcome: 'success',
    scope: 'changes',
    fields: ['kid', 'alg'],
    optional: [],
    when: 'another one signs; what this one signed is still good',
  },
  key_gone: {
    outcome: 'success',
    scope: 'changes',
    fields: ['kid', 'alg'],
    optional: [],
    when: 'nothing that it signed is good any more, and it has left the key set',
  },
  client_created: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id'],
    optional: [],
    when: 'an operator put a client into the store',
  },
  client_changed: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id', 'reason'],
    optional: [],
    when: 'an operator changed one; `reason` says what, such as `secret`',
  },
  client_disabled: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id'],
    optional: [],
    when: 'an operator took its access away',
  },
  client_enabled: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id'],
    optional: [],
    when: 'an operator gave it back',
  },
  client_deleted: {
    outcome: 'success',
    scope: 'changes',
    fields: ['client_id'],
    optional: [],
    when: 'an operator took a client out of the store',
  },
} as const satisfies Readonly<Record<string, AuditActionDeclaration>>

export type AuditAction = keyof typeof auditActions
