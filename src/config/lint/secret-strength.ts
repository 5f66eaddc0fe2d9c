import { hashStrength, verifySecretHash } from '../../oauth/secrets/secret-hash.ts'
import { Secret } from '../../secret.ts'
import type { ParsedClient, ParsedConfig, ParsedSecret } from '../parse/parsed-config.ts'
import type { Path } from '../source/diagnostic.ts'
import { dueAtMs } from './certificates.ts'
import { type Warning, type WarningRules, warnIf } from './warning.ts'

/** Secrets that are published, easy to guess, or about to expire, wherever they come from. */
export const secretStrengthRules = {
  'known-secret': async ({ parsed }) => [
    ...plainSecrets(parsed).flatMap(({ path, text }) => warnIf(isKnown(text), path, known)),
    ...(await findDemoUser(parsed)),
  ],
  'short-secret': ({ parsed }) =>
    plainSecrets(parsed).flatMap(({ path, text }) => warnIf(!isKnown(text) && isGuessable(text), path, guessable)),
  'weak-hash': ({ parsed }) => [
    ...secretsOf(parsed).flatMap(({ path, secret: { client_secret_hash: hash } }) =>
      warnIf(hash !== undefined && hashStrength(hash) === 'weak', [...path, 'client_secret_hash'], weakHash),
    ),
    ...parsed.users.flatMap(({ path, value: { password_hash: hash } }) =>
      warnIf(hash !== undefined && hashStrength(hash) !== 'usual', [...path, 'password_hash'], weakHash),
    ),
  ],
  'expiring-secret': ({ parsed, nowMs }) =>
    parsed.clients.flatMap(({ path, value }) =>
      warnIf(
        lastEndMs(value) < nowMs + dueAtMs,
        [...path, 'client_secrets', value.client_secrets.length - 1, 'until'],
        'all secrets of this client expire within 14 days; add the next one (client_secrets)',
      ),
    ),
} as const satisfies WarningRules

interface PlacedSecret {
  readonly path: Path
  readonly secret: Pick<ParsedSecret, 'client_secret' | 'client_secret_hash'>
}

const secretsOf = ({ clients }: ParsedConfig): readonly PlacedSecret[] =>
  clients.flatMap(({ path, value }) => [
    { path, secret: value },
    ...value.client_secrets.map((secret, index) => ({ path: [...path, 'client_secrets', index], secret })),
  ])

const plainSecrets = (parsed: ParsedConfig): readonly { readonly path: Path; readonly text: string }[] =>
  secretsOf(parsed).flatMap(({ path, secret: { client_secret } }) =>
    client_secret ? [{ path: [...path, 'client_secret'], text: client_secret.reveal() }] : [],
  )

/** The secrets of the samples, the manifests and the README. */
const sampleSecrets = [
  'replace-this-secret',
  'demo-secret',
  'shop-secret',
  'bookkeeping-secret',
  'app-secret',
  'wonderland',
]

const isKnown = (text: string): boolean => sampleSecrets.includes(text)

const known = 'this secret is published in the samples of Sidegate; generate one with `sidegate client new`'

/** Verifying a guess against a hash takes a while, so only the password of the samples' user is tried. */
const findDemoUser = async ({ users }: ParsedConfig): Promise<readonly Warning[]> => {
  const found = users.find(({ value }) => value.username === 'alice')
  if (!found?.value.password_hash) return []
  const isDemo = await verifySecretHash(new Secret('wonderland'), found.value.password_hash)
  const message = "this user's password is published in the samples of Sidegate; remove the user"
  return warnIf(isDemo, [...found.path, 'password_hash'], message)
}

/**
 * RFC 6749 section 10.10: a probability of 2^-128, which takes 22 characters of 64 kinds; a text with few kinds is a
 * word or a counter.
 */
const leastCharacters = 22
const leastKinds = 8

const isGuessable = (text: string): boolean => text.length < leastCharacters || new Set(text).size < leastKinds

const guessable = `can be guessed: a secret has ${leastCharacters} or more different characters (RFC 6749 section 10.10); generate one with \`sidegate client new\``

const weakHash = 'this kind of hash is too fast for a secret that a person chose; create another with `sidegate hash`'

/** When the last of its secrets expires; infinite: never, or it has none. */
const lastEndMs = ({ client_secret, client_secret_hash, client_secrets }: ParsedClient): number => {
  if (client_secret ?? client_secret_hash) return Infinity
  return client_secrets.length === 0 ? Infinity : Math.max(...client_secrets.map(({ until = Infinity }) => until))
}
