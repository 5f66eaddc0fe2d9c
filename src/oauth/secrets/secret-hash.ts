import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, systemClock } from '../../clock.ts'
import { Secret } from '../../secret.ts'
import type { MaybePromise } from '../when-known.ts'
import { deriveKey, type ScryptJob, type SecretOwner } from './scrypt-queue.ts'
import { createVerifiedMemory } from './verified-memory.ts'

/**
 * Stored forms of secrets. What a person chose is hashed slowly, `scrypt$ln=15,r=8,p=1$<salt>$<hash>`; what Sidegate
 * generated has 256 random bits and needs no slowness, `sha256$<salt>$<digest>`. Salt and hash are base64url.
 */
type StoredSecret =
  | { readonly kind: 'scrypt'; readonly cost: ScryptCost; readonly salt: Buffer; readonly hash: Buffer }
  | { readonly kind: 'sha256'; readonly salt: Buffer; readonly hash: Buffer }

type ScryptCost = Pick<ScryptJob, 'ln' | 'r' | 'p'>

/** About 33 ms and 32 MiB a run (RFC 7914 section 2 has the meaning of the parameters). */
const cost: ScryptCost = { ln: 15, r: 8, p: 1 }

/** The most N × r × p of a stored form: 256 MiB and about a second. Dearer ones are refused. */
const mostWork = 2 ** 21

const saltBytes = 16
const hashBytes = 32

/** The slow stored form of a secret that a person chose. */
export const hashSecret = async (secret: Secret): Promise<string> => {
  const salt = randomBytes(saltBytes)
  const hash = await deriveKey({ ...cost, salt, secret: secret.reveal(), lengthBytes: hashBytes })
  return `scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

/** The quick stored form of a secret that Sidegate generated; never for one that a person chose. */
export const hashGeneratedSecret = (secret: Secret): string => {
  const salt = randomBytes(saltBytes)
  return `sha256$${salt.toString('base64url')}$${saltedDigest(salt, secret).toString('base64url')}`
}

/** Whether a text is a stored form that `verifySecretHash` understands and is willing to compute. */
export const isSecretHash = (text: string): boolean => parseSecretHash(text) !== undefined

/** How a stored form resists guessing: `quick` is for generated secrets, `weak` is a slow form of less work than ours. */
export const hashStrength = (hash: Secret): 'quick' | 'weak' | 'usual' => {
  const stored = parseSecretHash(hash.reveal())
  if (stored?.kind !== 'scrypt') return 'quick'
  return workOf(stored.cost) < workOf(cost) ? 'weak' : 'usual'
}

const workOf = ({ ln, r, p }: ScryptCost): number => 2 ** ln * r * p

/**
 * Whether a presented secret has one of these stored forms, in time that depends on the content of none. While a secret
 * is rotated there are several.
 * @param presented with its owner, so that a slow check waits among those of other owners
 */
export type SecretVerifier = (presented: Secret | OwnedSecret, ...hashes: readonly Secret[]) => MaybePromise<boolean>

export interface OwnedSecret {
  readonly secret: Secret
  readonly owner: SecretOwner
}

/**
 * A verifier with a memory of its own: a right answer of a slow form is remembered under a keyed digest for five
 * minutes, so a client that authenticates on every request costs one scrypt run, not one per request. Wrong answers
 * are not remembered. A text that is no stored form verifies nothing.
 */
export const createSecretVerifier = (clock: Clock): SecretVerifier => {
  const memory = createVerifiedMemory(clock)
  const underWay = new Map<string, Promise<boolean>>()

  const runOnce = (owned: Owned, { stored, key }: SlowCheck): Promise<boolean> => {
    // Many requests with one secret at a cold start share one run.
    const joined = underWay.get(key) ?? verifySlowly(stored, owned).finally(() => underWay.delete(key))
    underWay.set(key, joined)
    return joined.then(right => {
      if (right) memory.add(key)
      return right
    })
  }

  return (presented, ...hashes) => {
    const owned: Owned = presented instanceof Secret ? { secret: presented } : presented
    const { secret } = owned
    const slow: SlowCheck[] = []
    for (const hash of hashes) {
      const stored = parseSecretHash(hash.reveal())
      if (stored?.kind === 'sha256' && timingSafeEqual(saltedDigest(stored.salt, secret), stored.hash)) return true
      if (stored?.kind === 'scrypt') slow.push({ stored, key: memory.keyOf(secret, hash) })
    }
    if (slow.length === 0) return false
    // What is remembered of any of them spares the runs of all.
    if (slow.some(({ key }) => memory.has(key))) return true
    return Promise.all(slow.map(check => runOnce(owned, check))).then(answers => answers.includes(true))
  }
}

/** One slow form that has to be compared, and the name under which a right answer is remembered. */
interface SlowCheck {
  readonly stored: StoredSecret & { kind: 'scrypt' }
  readonly key: string
}

/** The process's own verifier. See `createSecretVerifier`; throws (rejects) as `deriveKey` does. */
export const verifySecretHash: SecretVerifier = createSecretVerifier(systemClock)

const randomText = (bytes: number): string => randomBytes(bytes).toString('base64url')

/** A new stored form that no secret matches: checking against it costs what a wrong secret costs. */
export const newUnmatchedHash = (form: 'slow' | 'quick'): Secret => {
  const kind = form === 'slow' ? `scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}` : 'sha256'
  return new Secret(`${kind}$${randomText(saltBytes)}$${randomText(hashBytes)}`)
}

/** One of the slow form for everybody who needs no more than one. */
export const unmatchedSecretHash = newUnmatchedHash('slow')

type Owned = Pick<OwnedSecret, 'secret'> & Partial<OwnedSecret>

const verifySlowly = async (
  { cost, salt, hash }: StoredSecret & { kind: 'scrypt' },
  { secret, owner }: Owned,
): Promise<boolean> => {
  const job = { ...cost, salt, secret: secret.reveal(), lengthBytes: hash.length }
  const derived = await deriveKey(owner ? { ...job, owner } : job)
  return timingSafeEqual(derived, hash)
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
  if (cost.ln < 1 || cost.r < 1 || cost.p < 1 || workOf(cost) > mostWork) return undefined
  if (cost.ln >= 16 * cost.r) return undefined // RFC 7914 section 2: N < 2^(128 × r / 8)
  return { kind: 'scrypt', cost, salt: fromBase64url(salt), hash: fromBase64url(hash) }
}

const fromBase64url = (text: string): Buffer => Buffer.from(text, 'base64url')
