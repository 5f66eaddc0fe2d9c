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
 * Whether the presented secret is one of the client's secrets that are still valid. Without a client, or for a client
 * without a secret, the result is false. Every false result takes the same time, so that the time does not show which
 * clients exist (RFC 6749 section 10.10): for each kind of secret, always run as many comparisons as the client with
 * the most secrets of that kind needs, against a dummy if this client has fewer. Each slow comparison takes the work
 * of the costliest hash.
 */
export type SecretCheck = (
  client: ClientRegistration | undefined,
  presented: string,
  owner?: SecretOwner,
) => MaybePromise<boolean>

/**
 * The size of the compared blocks. A generated secret of 43 characters fits, and every client that has sent a request
 * keeps one block.
 */
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

/**
 * The buffer for the presented secret during the comparison. One buffer is enough, because the comparison never
 * awaits.
 */
const presentedBlock = Buffer.alloc(blockBytes)

const isAmong = (plain: readonly Comparand<Buffer>[], presented: string, nowMs: number): boolean => {
  writeBlock(presentedBlock, presented)
  const isRight = plain.some(comparand => timingSafeEqual(valueAt(nowMs, comparand), presentedBlock))
  presentedBlock.fill(0)
  return isRight
}

/** Returns the comparands of a client, or of a request without a client. */
const createComparands = (
  most: ClientFacts['maxSecretsPerKind'],
): ((client: ClientRegistration | undefined) => Comparands) => {
  const unmatched = createUnmatched(most)
  const nobodys = toComparands([], unmatched)
  // Created at a client's first request, which therefore takes a few microseconds longer, once in each process.
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

/** A value that a presented secret is compared with. */
interface Comparand<T> {
  readonly value: T
  /** The dummy that replaces the value after its end. */
  readonly unmatched: T
  readonly untilMs: number
}

/** All comparands of one client. Every client has the same number. */
interface Comparands {
  readonly plain: readonly Comparand<Buffer>[]
  readonly stored: readonly Comparand<Secret>[]
}

/** The dummies, which match no secret: of each kind as many as the client with the most secrets has. */
interface Unmatched {
  readonly plain: readonly Buffer[]
  readonly quick: readonly Secret[]
  readonly slow: readonly Secret[]
}

const createUnmatched = (most: ClientFacts['maxSecretsPerKind']): Unmatched => ({
  plain: Array.from({ length: most.plain }, () => randomBytes(blockBytes)),
  // All dummies differ. Equal ones would be computed once, which takes less time than as many secrets do.
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
 * A secret as it is compared: its length, its bytes, zeros. All blocks have the same size, so the comparison does not
 * show the length either. For a longer secret the block contains its digest, after a length byte that no shorter text
 * has. A digest of every secret would work too, but costs four times as much.
 */
const writeBlock = (block: Buffer, text: string): void => {
  block.fill(0)
  const length = Buffer.byteLength(text)
  if (length < blockBytes) block[0] = block.write(text, 1)
  else block.set(hash('sha256', text, 'buffer'), 1)
}
