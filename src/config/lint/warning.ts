import { ownMember } from '../../own-member.ts'
import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Path } from '../source/diagnostic.ts'

/** A configuration without problems, and the environment that it will run in. */
export interface LintInput {
  readonly parsed: ParsedConfig
  /** The data of the file as it is written: without variables substituted and without files read. */
  readonly written: unknown
  readonly env: NodeJS.ProcessEnv
  /** The time from SIGTERM to SIGKILL. */
  readonly graceMs: number
  readonly nowMs: number
}

/** A setting that is harmful in production, and its correction; `path` is from the root. Never repeats a secret. */
export interface Warning {
  readonly path: Path
  readonly message: string
}

/** Finds all warnings of one rule. */
export type FindWarnings = (input: LintInput) => readonly Warning[] | Promise<readonly Warning[]>

/** Rules by their ids, which `check --strict` prints and `--allow` takes. */
export type WarningRules = Readonly<Record<string, FindWarnings>>

/** One warning if the condition holds, otherwise none. */
export const warnIf = (isSo: boolean, path: Path, message: string): readonly Warning[] =>
  isSo ? [{ path, message }] : []

/** The value at a path of the file; undefined if the file has no value there. */
export const valueAt = (written: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) => ownMember(value as Readonly<Record<string | number, unknown>> | undefined, step),
    written,
  )
