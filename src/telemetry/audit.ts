import { type AuditAction, type AuditScope, auditActions, auditScopes } from './audit-actions.ts'
import type { LogValue, Simplify } from './log-fields.ts'
import type { Logger, ProcessLogger } from './logger.ts'
import { createTimestamp } from './timestamp.ts'

export type { AuditScope } from './audit-actions.ts'

type Required<A extends AuditAction> = (typeof auditActions)[A]['fields'][number]
type Optional<A extends AuditAction> = (typeof auditActions)[A]['optional'][number]

type EntryOf<A extends AuditAction> = Simplify<
  { readonly action: A } & { readonly [F in Required<A>]: LogValue<F> } & {
    readonly [F in Optional<A>]?: LogValue<F> | undefined
  }
>

/** One action with the fields that its declaration names, and no others. Plain data: it crosses process boundaries. */
export type AuditEntry = { [A in AuditAction]: EntryOf<A> }[AuditAction]

/** Where audit lines go: beside the other lines, as `"event":"audit"`. */
export interface Audit {
  write(entry: AuditEntry): void
}

/**
 * The audit lines of one process. Of the values of `LOG_LEVEL` only `silent` turns them off, because turning access
 * lines off must not turn off audit lines. Rendered without pino, because a line is written for each token.
 */
export const createAudit = ({ log, lines, base }: ProcessLogger): Audit => {
  if (!log.isLevelEnabled('fatal')) return { write: () => undefined }
  if (lines === undefined) return { write: entry => writePretty(log, entry) }
  const openings = createOpenings(base)
  const timestamp = createTimestamp()
  return {
    write(entry) {
      const opening = openings[entry.action]
      lines.write(`${opening.beforeTime}${timestamp()}${opening.afterTime}${toMembers(entry, opening)}}\n`)
    },
  }
}

const writePretty = (log: Logger, { action, ...facts }: AuditEntry): void => {
  const { outcome } = auditActions[action]
  const line = { event: 'audit', action, outcome, ...facts } as const
  if (outcome === 'success') log.info(line)
  else log.warn(line)
}

/** How the lines of one action begin, rendered once. */
interface Opening {
  readonly beforeTime: string
  readonly afterTime: string
  /** How the JSON of an entry begins whose first member is its action. */
  readonly asFirst: string
}

const createOpenings = (base: ProcessLogger['base']): Readonly<Record<AuditAction, Opening>> => {
  const members = JSON.stringify(base).slice(1, -1)
  const openingOf = (action: AuditAction): Opening => {
    const { outcome } = auditActions[action]
    return {
      beforeTime: `{"level":"${outcome === 'success' ? 'info' : 'warn'}","time":"`,
      afterTime: `",${members},"event":"audit","action":"${action}","outcome":"${outcome}"`,
      asFirst: `{"action":"${action}"`,
    }
  }
  const openings = Object.keys(auditActions).map(action => [action, openingOf(action as AuditAction)] as const)
  return Object.fromEntries(openings) as Record<AuditAction, Opening>
}

/** The entry's members without its action, each with a comma before it. */
const toMembers = (entry: AuditEntry, { asFirst }: Opening): string => {
  const text = JSON.stringify(entry)
  // Cut from the text, because copying the entry without that member takes longer than the rest of the line.
  if (text.startsWith(asFirst)) return text.slice(asFirst.length, -1)
  const { action: _, ...facts } = entry
  return `,${JSON.stringify(facts).slice(1, -1)}`
}

/** Passes on only the lines of the scope that a configuration sets. */
export const narrowAudit = (audit: Audit, scope: AuditScope): Audit => {
  const widest = auditScopes.indexOf(scope)
  const isWanted = (action: AuditAction): boolean => auditScopes.indexOf(auditActions[action].scope) <= widest
  return {
    write(entry) {
      if (isWanted(entry.action)) audit.write(entry)
    },
  }
}
