import { type AuditAction, type AuditScope, auditActions, auditScopes } from './audit-actions.ts'
import type { Flat, LogValue } from './log-fields.ts'
import type { ProcessLogger } from './logger.ts'

export type { AuditScope } from './audit-actions.ts'

type Required<A extends AuditAction> = (typeof auditActions)[A]['fields'][number]
type Optional<A extends AuditAction> = (typeof auditActions)[A]['optional'][number]

type EntryOf<A extends AuditAction> = Flat<
  { readonly action: A } & { readonly [F in Required<A>]: LogValue<F> } & {
    readonly [F in Optional<A>]?: LogValue<F> | undefined
  }
>

/** One action with the fields that its declaration names, and no other. Plain data: it crosses process boundaries. */
export type AuditEntry = { [A in AuditAction]: EntryOf<A> }[AuditAction]

/** Where audit lines go: beside the other lines, as `"event":"audit"`. */
export interface Audit {
  write(entry: AuditEntry): void
}

/**
 * The audit lines of one process. `LOG_LEVEL` leaves them alone, but for `silent`: who wants no access lines still wants
 * these. Put together without pino, since there is one for each token.
 */
export const createAudit = ({ log, lines, base }: ProcessLogger): Audit => {
  const isSilent = !log.isLevelEnabled('fatal')
  const members = JSON.stringify(base).slice(1, -1)
  return {
    write(entry) {
      if (isSilent) return
      const { action, ...facts } = entry
      const { outcome } = auditActions[action]
      const level = outcome === 'success' ? 'info' : 'warn'
      if (lines === undefined) {
        const line = { event: 'audit', action, outcome, ...facts } as const
        return outcome === 'success' ? log.info(line) : log.warn(line)
      }
      const opening = `{"level":"${level}","time":"${new Date().toISOString()}",${members},"event":"audit"`
      lines.write(`${opening},"action":"${action}","outcome":"${outcome}"${toMembers(facts)}}\n`)
    },
  }
}

/** An object's members, each with a comma before it. */
const toMembers = (facts: object): string => {
  const text = JSON.stringify(facts)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

/** Those lines alone that a configuration wants. */
export const narrowAudit = (audit: Audit, scope: AuditScope): Audit => {
  const widest = auditScopes.indexOf(scope)
  const isWanted = (action: AuditAction): boolean => auditScopes.indexOf(auditActions[action].scope) <= widest
  return {
    write(entry) {
      if (isWanted(entry.action)) audit.write(entry)
    },
  }
}
