import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, systemClock } from '../../clock.ts'
import { Secret } from '../../secret.ts'
import type { MaybePromise } from '../functional.ts'
import { remainderOf, type ScryptCost, usualCost, workOf } from './scrypt-cost.ts'
import { deriveKey, type SecretOwner } from './scrypt-queue.ts'
import { createVerifiedCache } from './verified-cache.ts'

/**
 * Stored forms of secrets. A password that a person chose gets a slow hash, `scrypt$ln=15,r=8,p=1$<salt>$<hash>`. A
 * secret that Sidegate generated has 256 random bits, so a quick hash is enough: `sha256$<salt>$<digest>`. Salt and
 * hash are base64url.
 */
type StoredSecret =
  | { readonly kind: 'scrypt'; readonly cost: ScryptCost; readonly salt: Buffer; readonly hash: Buffer }
  | { readonly kind: 'sha256'; readonly salt: Buffer; readonly hash: Buffer }

/** The maximum N × r × p of a stored form: 256 MiB and about a second. Costlier forms are refused. */
const maxWork = 2 ** 21

const saltBytes = 16
const hashBytes = 32

/** The slow stored form of a secret that a person chose. */
export const hashSecret = async (secret: Secret): Promise<string> => {
  const salt = randomBytes(saltBytes)
  const hash = await deriveKey({ ...usualCost, salt, secret: secret.reveal(), lengthBytes: hashBytes })
  return `${slowPrefix(usualCost)}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

/** The quick stored form of a secret that Sidegate generated; never for a secret that a person chose. */
export const hashGeneratedSecret = (secret: Secret): string => {
  const salt = randomBytes(saltBytes)
  return `sha256$${salt.toString('base64url')}$${saltedDigest(salt, secret).toString('base64url')}`
}

/** Whether a text is a stored form that `verifySecretHash` can parse and whose cost is within the limit. */
export const isSecretHash = (text: string): boolean => parseSecretHash(text) !== undefined

/**
 * The resistance of a stored form to guessing. `quick` is for generated secrets; `weak` is a slow form with less work
 * than ours.
 */
export const hashStrength = (hash: Secret): 'quick' | 'weak' | 'usual' => {
  const stored = parseSecretHash(hash.reveal())
  if (stored?.kind !== 'scrypt') return 'quick'
  return workOf(stored.cost) < workOf(usualCost) ? 'weak' : 'usual'
}

/** The scrypt parameters of a slow form; undefined for any other text. */
export const costOfHash = (text: string): ScryptCost | undefined => {
  const stored = parseSecretHash(text)
  return stored?.kind === 'scrypt' ? stored.cost : undefined
}

const slowPrefix = ({ ln, r, p }: ScryptCost): string => `scrypt$ln=${ln},r=${r},p=${p}`

/**
 * Whether a presented secret matches one of these stored forms. The time does not depend on their content. During a
 * rotation there are several.
 */
export type SecretVerifier = (
  presented: Secret | PresentedSecret,
  ...hashes: readonly Secret[]
) => MaybePromise<boolean>

export interface PresentedSecret {
  readonly secret: Secret
  /** The owner of the secret, so that slow checks of different owners take turns. */
  readonly owner?: SecretOwner | undefined
  /**
   * The cost of the costliest slow form that is configured or stored. A wrong answer for each slow form takes this
   * much work, so that the time does not show whose form costs less (RFC 6749 section 10.10).
   */
  readonly wrongCost?: ScryptCost | undefined
}

/**
 * A verifier with its own cache: a right answer of a slow form is cached under a keyed digest for five minutes, so
 * that a client that authenticates at every request costs one scrypt run and not one for each request. Wrong answers
 * are not cached. A text that is not a stored form matches no secret.
 */
export const createSecretVerifier = (clock: Clock): SecretVerifier => {
  const cache = createVerifiedCache(clock)
  const pending = new Map<string, Promise<boolean>>()

  const runOnce = (given: PresentedSecret, { stored, key }: SlowCheck): Promise<boolean> => {
    // At a cold start, many requests with the same secret share one run.
    const joined = pending.get(key) ?? verifySlowly(stored, given).finally(() => pending.delete(key))
    pending.set(key, joined)
    return joined.then(right => {
      if (right) cache.add(key)
      return right
    })
  }

  return (presented, ...hashes) => {
    const given: PresentedSecret = presented instanceof Secret ? { secret: presented } : presented
    const { secret } = given
    const slow: SlowCheck[] = []
    for (const hash of hashes) {
      const stored = parseSecretHash(hash.reveal())
      if (stored?.kind === 'sha256' && timingSafeEqual(saltedDigest(stored.salt, secret), stored.hash)) return true
      if (stored?.kind === 'scrypt') slow.push({ stored, key: cache.keyOf(secret, hash) })
    }
    if (slow.length === 0) return false
    // If one of the forms is cached as right, no run is needed.
    if (slow.some(({ key }) => cache.has(key))) return true
    return Promise.all(slow.map(check => runOnce(given, check))).then(answers => answers.includes(true))
  }
}

/** One slow form to compare, and the cache key of a right answer. */
interface SlowCheck {
  readonly stored: StoredSecret & { kind: 'scrypt' }
  readonly key: string
}

/** The verifier of this process. See `createSecretVerifier`. It rejects as `deriveKey` does. */
export const verifySecretHash: SecretVerifier = createSecretVerifier(systemClock)

const randomText = (bytes: number): string => randomBytes(bytes).toString('base64url')

/** A new stored form that no secret matches. A comparison with it costs as much as with a wrong secret. */
export const newUnmatchedHash = (form: 'slow' | 'quick', cost = usualCost): Secret => {
  const kind = form === 'slow' ? slowPrefix(cost) : 'sha256'
  return new Secret(`${kind}$${randomText(saltBytes)}$${randomText(hashBytes)}`)
}

const verifySlowly = async (
  { cost, salt, hash }: StoredSecret & { kind: 'scrypt' },
  { secret, owner, wrongCost = cost }: PresentedSecret,
): Promise<boolean> => {
  const job = { salt, secret: secret.reveal(), lengthBytes: hash.length, ...(owner && { owner }) }
  const isRight = timingSafeEqual(await deriveKey({ ...job, ...cost }), hash)
  const rest = isRight ? undefined : remainderOf(cost, wrongCost)
  if (rest) await deriveKey({ ...job, ...rest })
  return isRight
}

const saltedDigest = (salt: Buffer, secret: Secret): Buffer =>
  createHmac('sha256', salt).update(secret.reveal()).digest()

const parseSecretHash = (text: string): StoredSecret | undefined => {
  const slow = /^scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]{11,86})\$([\w-]{22,86})$/.exec(text)
  if (slow) return parseScrypt(slow.slice(1))
  const quick = /^sha256\$([\w-]{11,86})\$([\w-]{43})$/.exec(text)
  const [salt = '', hash = ''] = quick?.slice(1) ?? []
  return quick ? { kind: 'sha256', salt: fromBase64url(salt), hash: fromBase64url(hash) } : undefined
}

const parseScrypt = ([ln, r, p, salt = '', hash = '']: readonly string[]): StoredSecret | undefined => {
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) }
  if (cost.ln < 1 || cost.r < 1 || cost.p < 1 || workOf(cost) > maxWork) return undefined
  if (cost.ln >= 16 * cost.r) return undefined // RFC 7914 section 2: N < 2^(128 × r / 8)
  return { kind: 'scrypt', cost, salt: fromBase64url(salt), hash: fromBase64url(hash) }
}

const fromBase64url = (text: string): Buffer => Buffer.from(text, 'base64url')
