import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { Secret } from '../../secret.ts'
import type { ClientRegistration, ClientSecret } from '../options.ts'
import { newUnmatchedHash, verifySecretHash } from '../secrets/secret-hash.ts'
import type { MaybePromise } from '../when-known.ts'

/**
 * Whether the presented secret is one of the client's that have not ended. Without a client, or with one that has no
 * secret, the answer is false. Every false answer costs the same, so that time does not tell which clients exist (RFC 6749
 * section 10.10): of each form in which secrets are stored as many are compared as the client with the most of them has,
 * with something that nothing matches where this client has none.
 */
export type SecretCheck = (client: ClientRegistration | undefined, presented: string) => MaybePromise<boolean>

export const createSecretCheck = (registrations: readonly ClientRegistration[], clock: Clock): SecretCheck => {
  const sorted = new Map(registrations.map(({ client_id, secrets }) => [client_id, sortByForm(secrets)]))
  const unmatched = createUnmatched([...sorted.values()])
  const byClient = new Map([...sorted].map(([client_id, secrets]) => [client_id, toComparands(secrets, unmatched)]))
  const nobodys = toComparands(sortByForm([]), unmatched)

  return (client, presented) => {
    const { plain, stored } = byClient.get(client?.client_id ?? '') ?? nobodys
    const nowMs = clock.nowMs()
    const digest = digestOf(presented)
    // Equal digests of unequal lengths' texts do not exist, so the comparison tells nothing about the length either.
    if (plain.some(comparand => timingSafeEqual(valueAt(nowMs, comparand), digest))) return true
    if (stored.length === 0) return false
    return verifySecretHash(new Secret(presented), ...stored.map(comparand => valueAt(nowMs, comparand)))
  }
}

/** One client's secrets by form: `plain` in the configuration itself, or stored as one of the two kinds of hashes. */
interface ByForm<T> {
  readonly plain: readonly T[]
  readonly quick: readonly T[]
  readonly slow: readonly T[]
}

/** Something that a presented secret is compared with. */
interface Comparand<T> {
  readonly value: T
  /** What stands in for it once it has ended. */
  readonly unmatched: T
  readonly untilMs: number
}

/** All that is compared for one client: for every client as much of it. */
interface Comparands {
  readonly plain: readonly Comparand<Buffer>[]
  readonly stored: readonly Comparand<Secret>[]
}

/** What nothing matches, as much of each form as the client with the most has. */
interface Unmatched {
  readonly plain: readonly Buffer[]
  readonly quick: readonly Secret[]
  readonly slow: readonly Secret[]
}

const sortByForm = (secrets: readonly ClientSecret[]): ByForm<ClientSecret> => {
  const { plain = [], quick = [], slow = [] } = Object.groupBy(secrets, formOf)
  return { plain, quick, slow }
}

const formOf = ({ kind, value }: ClientSecret): keyof ByForm<ClientSecret> => {
  if (kind === 'plain') return 'plain'
  return value.reveal().startsWith('scrypt$') ? 'slow' : 'quick'
}

const createUnmatched = (sorted: readonly ByForm<ClientSecret>[]): Unmatched => {
  const asManyAs = <T>(form: keyof ByForm<ClientSecret>, make: () => T): readonly T[] =>
    Array.from({ length: Math.max(0, ...sorted.map(secrets => secrets[form].length)) }, make)
  return {
    plain: asManyAs('plain', () => randomBytes(32)),
    // Each another: equal ones would be computed once, and cost less than as many secrets do.
    quick: asManyAs('quick', () => newUnmatchedHash('quick')),
    slow: asManyAs('slow', () => newUnmatchedHash('slow')),
  }
}

const toComparands = ({ plain, quick, slow }: ByForm<ClientSecret>, unmatched: Unmatched): Comparands => ({
  plain: unmatched.plain.map((spare, i) => toComparand(plain[i], spare, ({ value }) => digestOf(value.reveal()))),
  stored: [
    ...unmatched.quick.map((spare, i) => toComparand(quick[i], spare, ({ value }) => value)),
    ...unmatched.slow.map((spare, i) => toComparand(slow[i], spare, ({ value }) => value)),
  ],
})

const toComparand = <T>(
  secret: ClientSecret | undefined,
  unmatched: T,
  read: (secret: ClientSecret) => T,
): Comparand<T> => ({
  value: secret ? read(secret) : unmatched,
  unmatched,
  untilMs: secret?.untilMs ?? Number.POSITIVE_INFINITY,
})

const valueAt = <T>(nowMs: number, { value, unmatched, untilMs }: Comparand<T>): T =>
  nowMs < untilMs ? value : unmatched

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')
