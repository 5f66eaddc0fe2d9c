import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { formatProblem, loadConfig, type SidegateConfig } from '../../src/config/load.ts'

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** Creates a folder for one test, and removes it after the test. */
export const makeFolder = (t: Teardown): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sidegate-config-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a configuration, as YAML text or as data, and returns the file's name. */
export const writeConfig = (t: Teardown, content: unknown): string => {
  const file = join(makeFolder(t), 'sidegate.yaml')
  writeFileSync(file, typeof content === 'string' ? content : stringify(content))
  return file
}

/** The problems of a configuration as `LINE:COLUMN: message`; empty if it is accepted. */
export const problemsOf = async (
  t: Teardown,
  content: unknown,
  env: NodeJS.ProcessEnv = {},
): Promise<readonly string[]> => {
  const file = writeConfig(t, content)
  const loaded = await loadConfig(file, env)
  return loaded.ok ? [] : loaded.problems.map(problem => formatProblem(problem).slice(file.length + 1))
}

/** The configuration, which must be accepted. */
export const acceptedConfig = async (
  t: Teardown,
  content: unknown,
  env: NodeJS.ProcessEnv = {},
): Promise<SidegateConfig> => {
  const loaded = await loadConfig(writeConfig(t, content), env)
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'))
  return loaded.config
}

/** A complete client and a grouping with one operation. A test changes one point of them. */
export const client = (changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> => ({
  client_id: 'shop',
  client_secret: 'shop-secret',
  grant_types: ['client_credentials'],
  ...changes,
})

export const token = { method: 'POST', path: '/token', serves: 'token' } as const
export const authorize = { method: 'GET', path: '/authorize', serves: 'authorize' } as const
export const forwarded = { method: 'GET', path: '/items', upstream: 'items' } as const

/** A configuration of one grouping with these operations, and the upstream `items`. */
export const publishing = (...operations: readonly unknown[]): Readonly<Record<string, unknown>> => ({
  groupings: [{ name: 'G', operations }],
  upstreams: { items: { targets: ['http://127.0.0.1:9000'] } },
})

/** A stored form of an unknown secret. */
export const hash = 'sha256$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
