import { ownMember } from '../../own-member.ts'
import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Path } from '../source/diagnostic.ts'

/** A configuration without problems, and what is known of where it will run. */
export interface LintInput {
  readonly parsed: ParsedConfig
  /** The data of the file as it is written: variables not put in, files that hold values not read. */
  readonly written: unknown
  readonly env: NodeJS.ProcessEnv
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number
  readonly nowMs: number
}

/** What will hurt in production, and what would be right instead; `path` is from the root. Never repeats a secret. */
export interface Warning {
  readonly path: Path
  readonly message: string
}

/** Finds all of one kind of what hurts. */
export type FindWarnings = (input: LintInput) => readonly Warning[] | Promise<readonly Warning[]>

/** Rules by their ids, which `check --strict` prints and `--allow` takes. */
export type WarningRules = Readonly<Record<string, FindWarnings>>

/** One warning where something is so, none otherwise. */
export const warnIf = (isSo: boolean, path: Path, message: string): readonly Warning[] =>
  isSo ? [{ path, message }] : []

/** What is written at a place of the file; undefined: nothing. */
export const valueAt = (written: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) => ownMember(value as Readonly<Record<string | number, unknown>> | undefined, step),
    written,
  )
