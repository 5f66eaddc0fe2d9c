import type { Test } from 'tap'
import { lintConfig } from '../../../src/config/lint/lint.ts'
import { hash, writeConfig } from '../support.ts'

/** The environment in which a configuration is assumed to run. */
export interface Place {
  readonly env?: NodeJS.ProcessEnv
  /** Default 30 s. */
  readonly graceMs?: number
  /** Default now. */
  readonly nowMs?: number
  readonly allowed?: readonly string[]
}

/** A configuration without warnings. A case changes one point of it. */
export const sound = {
  issuer: 'https://auth.example.com',
  trustedProxies: ['10.0.7.0/28'],
  groupings: [{ name: 'OAuth', operations: [{ method: 'POST', path: '/token', serves: 'token' }] }],
  shutdown: { delay: '5s', timeout: '20s' },
} as const

/** A client of `sound`, as it should be. */
export const soundClient = { client_id: 'shop', client_secret_hash: hash, grant_types: ['client_credentials'] } as const

/** The warnings as `LINE:COLUMN: rule: message`. The configuration must have no problem. */
export const warningsOf = async (t: Test, content: unknown, place: Place = {}): Promise<readonly string[]> => {
  const { env = {}, graceMs = 30_000, nowMs = Date.now(), allowed = [] } = place
  const examined = await lintConfig(writeConfig(t, content), env, { nowMs, graceMs, allowed })
  if (!examined.ok) throw new Error(JSON.stringify(examined.problems))
  return examined.warnings.map(({ line, column, rule, message }) => `${line}:${column}: ${rule}: ${message}`)
}

/** A configuration with one warning, and a similar one without. Both are changes to `sound`. */
export interface Case {
  readonly rule: string
  readonly says: string
  readonly warned: Readonly<Record<string, unknown>>
  /** The text of the one warning, after the name of its rule. */
  readonly message: RegExp
  readonly fine: Readonly<Record<string, unknown>>
  readonly place?: Place
  /** The environment of `fine`; by default that of `warned`. */
  readonly finePlace?: Place
}

/** A test for each case. */
export const warnsOfEach = (t: Test, cases: readonly Case[]): void => {
  for (const { rule, says, warned, message, fine, place = {}, finePlace = place } of cases) {
    t.test(`${rule}: ${says}`, async t => {
      const warnings = await warningsOf(t, { ...sound, ...warned }, place)

      t.equal(warnings.length, 1, `one warning: ${warnings.join()}`)
      t.match(warnings[0], new RegExp(`^\\d+:\\d+: ${rule}: `))
      t.match(warnings[0], message)
      t.same(await warningsOf(t, { ...sound, ...fine }, finePlace), [], 'no warning for the file that is fine')
    })
  }
}
