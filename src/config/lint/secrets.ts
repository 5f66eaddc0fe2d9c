import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Path } from '../source/diagnostic.ts'
import { textWithoutVariables } from '../source/environment.ts'
import { type LintInput, valueAt, type WarningRules, warnIf } from './warning.ts'

/** Secrets that can be read in the file itself. */
export const secretRules = {
  'plain-secret': input =>
    findSecrets(input).flatMap(({ path, own, better }) =>
      warnIf(own !== '', path, `this secret can be read in the file; ${better}`),
    ),
  'secret-default': input =>
    findSecrets(input).flatMap(({ path, own, withDefaults, better }) =>
      warnIf(
        own === '' && withDefaults !== '',
        path,
        `the default after :- is used as the secret if the variable is not set; ${better}`,
      ),
    ),
} as const satisfies WarningRules

/** A field of the file that may contain a secret. */
interface WrittenSecret {
  readonly path: Path
  /** The part of it that is in the file itself. */
  readonly own: string
  readonly withDefaults: string
  readonly better: string
}

const findSecrets = ({ parsed, written }: LintInput): readonly WrittenSecret[] =>
  secretPlaces(parsed).flatMap(({ path, secretOf, better }) => {
    const value = valueAt(written, path)
    const said = (defaults: boolean): string => secretOf(withoutVariables(value, defaults))
    return value === undefined ? [] : [{ path, own: said(false), withDefaults: said(true), better }]
  })

interface SecretPlace {
  readonly path: Path
  /** The secret part of a value; empty if the value has no secret part. */
  readonly secretOf: (value: unknown) => string
  readonly better: string
}

const secretPlaces = ({ clients }: ParsedConfig): readonly SecretPlace[] => [
  { path: ['store'], secretOf: storePasswords, better: better('store_file', 'STORE_PASSWORD') },
  { path: ['keys', 'jwks'], secretOf: privateParts, better: 'set jwks_file to a file that contains it' },
  ...clients.flatMap(({ path, value }) =>
    [path, ...value.client_secrets.map((_, index) => [...path, 'client_secrets', index])].map(holder => ({
      path: [...holder, 'client_secret'],
      secretOf: String,
      better: better('client_secret_file, client_secret_hash', 'CLIENT_SECRET'),
    })),
  ),
]

const better = (keys: string, variable: string): string => `give it as ${keys} or \${${variable}}, without a default`

/** The passwords of a Redis address: its own, and that of the Sentinels. */
const storePasswords = (value: unknown): string => {
  const text = String(value)
  const [, own = ''] = /^[a-z+]+:\/\/[^@/]*?:([^@/]*)@/.exec(text) ?? []
  const [, ofSentinels = ''] = /[?&]sentinel_password=([^&]*)/.exec(text) ?? []
  return own + ofSentinels
}

/**
 * The private parts of a JWK set, as a mapping or as JSON text: the `d` of EC, OKP and RSA keys (RFC 7518 section 6).
 */
const privateParts = (value: unknown): string => {
  if (typeof value === 'string') return value
  const { keys } = value as { readonly keys?: unknown }
  return Array.isArray(keys) ? keys.map((key: { readonly d?: unknown }) => key.d ?? '').join('') : ''
}

/** Applies to every text of a value. */
const withoutVariables = (value: unknown, defaults: boolean): unknown => {
  if (typeof value === 'string') return textWithoutVariables(value, { defaults })
  if (Array.isArray(value)) return value.map(item => withoutVariables(item, defaults))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutVariables(item, defaults)]))
}
