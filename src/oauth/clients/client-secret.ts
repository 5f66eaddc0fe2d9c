import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { Secret } from '../../secret.ts'
import type { MaybePromise } from '../functional.ts'
import { memoizeLatest } from '../functional.ts'
import type { SecretOwner } from '../secrets/scrypt-queue.ts'
import { newUnmatchedHash, verifySecretHash } from '../secrets/secret-hash.ts'
import type { ClientFacts } from './client-registry.ts'
import type { ClientRegistration, ClientSecret } from './metadata.ts'
import { secretKindOf } from './secret-kinds.ts'

/**
 * Whether the presented secret is one of the client's that have not ended. Without a client, or with one that has no
 * secret, the answer is false. Every false answer costs the same, so that time does not tell which clients exist (RFC 6749
 * section 10.10): for each form in which secrets are stored, as many are compared as the client with the most of them has,
 * against a hash that no secret matches if this client has fewer; each slow comparison takes the work of the costliest hash.
 */
export type SecretCheck = (
  client: ClientRegistration | undefined,
  presented: string,
  owner?: SecretOwner,
) => MaybePromise<boolean>

/** Of what is compared. A generated secret, of 43 characters, fits, and every client that asks keeps one. */
const blockBytes = 64

export const createSecretCheck = (clients: Pick<ClientFacts, 'maxSecretsPerKind'>, clock: Clock): SecretCheck => {
  const comparandsOf = memoizeLatest(() => clients.maxSecretsPerKind, createComparands)

  return (client, presented, owner) => {
    const { plain, stored } = comparandsOf()(client)
    const nowMs = clock.nowMs()
    if (plain.length > 0 && isAmong(plain, presented, nowMs)) return true
    if (stored.length === 0) return false
    const secret = new Secret(presented)
    const wrongCost = clients.maxSecretsPerKind.slowCost
    const hashes = stored.map(comparand => valueAt(nowMs, comparand))
    return verifySecretHash({ secret, owner, wrongCost }, ...hashes)
  }
}

/** Where a presented secret is put to be compared, and no longer. One does for all: nothing waits meanwhile. */
const presentedBlock = Buffer.alloc(blockBytes)

const isAmong = (plain: readonly Comparand<Buffer>[], presented: string, nowMs: number): boolean => {
  writeBlock(presentedBlock, presented)
  const isRight = plain.some(comparand => timingSafeEqual(valueAt(nowMs, comparand), presentedBlock))
  presentedBlock.fill(0)
  return isRight
}

/** What is compared for a client, or for none. */
const createComparands = (
  most: ClientFacts['maxSecretsPerKind'],
): ((client: ClientRegistration | undefined) => Comparands) => {
  const unmatched = createUnmatched(most)
  const nobodys = toComparands([], unmatched)
  // Made at a client's first request: that one takes some microseconds longer, once in each process.
  const byClient = new WeakMap<ClientRegistration, Comparands>()
  return client => {
    if (!client) return nobodys
    const known = byClient.get(client)
    if (known) return known
    const comparands = toComparands(client.secrets, unmatched)
    byClient.set(client, comparands)
    return comparands
  }
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

const createUnmatched = (most: ClientFacts['maxSecretsPerKind']): Unmatched => ({
  plain: Array.from({ length: most.plain }, () => randomBytes(blockBytes)),
  // Each another: equal ones would be computed once, and cost less than as many secrets do.
  quick: Array.from({ length: most.quick }, () => newUnmatchedHash('quick')),
  slow: Array.from({ length: most.slow }, () => newUnmatchedHash('slow', most.slowCost)),
})

const toComparands = (secrets: readonly ClientSecret[], unmatched: Unmatched): Comparands => {
  const { plain = [], quick = [], slow = [] } = Object.groupBy(secrets, secretKindOf)
  return {
    plain: unmatched.plain.map((spare, i) => toComparand(plain[i], spare, ({ value }) => toBlock(value.reveal()))),
    stored: [
      ...unmatched.quick.map((spare, i) => toComparand(quick[i], spare, ({ value }) => value)),
      ...unmatched.slow.map((spare, i) => toComparand(slow[i], spare, ({ value }) => value)),
    ],
  }
}

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

const toBlock = (text: string): Buffer => {
  const block = Buffer.alloc(blockBytes)
  writeBlock(block, text)
  return block
}

/**
 * A secret as it is compared: its length, its bytes, zeros. All blocks are as long, so the comparison tells nothing about the
 * length either. Of a longer secret there is the digest, after a length that no text of that many bytes has. The digest of
 * every secret would do, and costs four times as much.
 */
const writeBlock = (block: Buffer, text: string): void => {
  block.fill(0)
  const length = Buffer.byteLength(text)
  if (length < blockBytes) block[0] = block.write(text, 1)
  else block.set(hash('sha256', text, 'buffer'), 1)
}
