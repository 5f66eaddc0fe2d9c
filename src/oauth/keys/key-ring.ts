import { createHmac, createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import type { Clock } from '../../clock.ts'
import { type KeyRecord, type KeyStore, StoreUnavailableError } from '../../stores/ports.ts'
import type { Digest } from '../tokens/code.ts'

/**
 * The signing keys and the digest key, loaded from the store and shared by all workers. As long as the store never
 * answered there are no keys: then every method but `close` throws StoreUnavailableError.
 */
export interface KeyRing {
  /** The key to sign access tokens with now. */
  current(): SigningKey
  /** A verification key by its kid, or undefined. */
  find(kid: string): SigningKey | undefined
  /** RFC 7517 public key set. */
  publicJwks(): PublicJwks
  /** HMAC-SHA-256 under the store's own digest key. */
  readonly digest: Digest
  /** Stops the renewal. */
  close(): void
}

export interface SigningKey {
  readonly kid: string
  readonly alg: 'ES256'
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export interface PublicJwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

/** Keys that no process renewed for this long are forgotten by the store. */
const keyLifetimeMs = 90 * 24 * 60 * 60 * 1000
const renewEveryMs = 10_000
/** While the store has not answered yet; short, because nothing can be signed until then. */
const retryEveryMs = 250

/** The algorithms every ring holds: ES256 signs tokens (RFC 7518 section 3.4), HS256 stands for the digest key. */
const algorithms = ['ES256', 'HS256'] as const

/** What one reading of the store gave. */
interface LoadedKeys {
  readonly records: readonly KeyRecord[]
  /** By kid. Holds keys that were seen before too: tokens signed with them may be alive. */
  readonly signing: ReadonlyMap<string, SigningKey>
  readonly current: SigningKey
  readonly digestKey: Buffer
  readonly jwks: PublicJwks
}

/**
 * Loads the keys, makes those that are missing, and renews their lifetime every ten seconds. A store that does not
 * answer is no reason to stay down: the ring opens without keys and keeps trying.
 * @throws whatever else goes wrong with the first reading, e.g. a stored key that is none
 */
export const openKeyRing = async (store: KeyStore, clock: Clock): Promise<KeyRing> => {
  let loaded: LoadedKeys | undefined
  let failure: unknown
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const load = async (): Promise<void> => {
    loaded = await loadKeys(store, clock.nowMs() + keyLifetimeMs, loaded)
  }
  const renewLater = (): void => {
    if (isClosed) return
    timer = setTimeout(renew, loaded ? renewEveryMs : retryEveryMs)
    timer.unref()
  }
  const renew = (): void => {
    // The keys at hand stay good when a renewal fails; the next one is near, their lifetime ninety days.
    load()
      .catch(error => {
        failure = error
      })
      .finally(renewLater)
  }
  const requireLoaded = (): LoadedKeys => {
    if (loaded) return loaded
    throw failure
  }

  await load().catch(error => {
    if (!(error instanceof StoreUnavailableError)) throw error
    failure = error
  })
  renewLater()
  return {
    current: () => requireLoaded().current,
    find: kid => requireLoaded().signing.get(kid),
    publicJwks: () => requireLoaded().jwks,
    digest: text => createHmac('sha256', requireLoaded().digestKey).update(text).digest('base64url'),
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** Reads all keys. A missing one is made; one that the store has lost since `before` is put back as it was. */
const loadKeys = async (store: KeyStore, untilMs: number, before: LoadedKeys | undefined): Promise<LoadedKeys> => {
  let records = await store.load(untilMs)
  for (const alg of algorithms) {
    if (findByAlg(records, alg)) continue
    const record = findByAlg(before?.records ?? [], alg) ?? (await makers[alg]())
    records = await store.create({ ...record, createdAtMs: untilMs - keyLifetimeMs }, undefined, untilMs)
  }
  return toLoadedKeys(records, before)
}

const findByAlg = (records: readonly KeyRecord[], alg: string): KeyRecord | undefined =>
  records.findLast(record => record.alg === alg)

const makers: Readonly<Record<(typeof algorithms)[number], () => Promise<Omit<KeyRecord, 'createdAtMs'>>>> = {
  ES256: async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(privateKey)
    return { kid: await calculateJwkThumbprint(jwk), alg: 'ES256', jwk: { ...jwk } }
  },
  HS256: async () => {
    const jwk = { kty: 'oct', k: randomBytes(32).toString('base64url') }
    return { kid: await calculateJwkThumbprint(jwk), alg: 'HS256', jwk }
  },
}

const toLoadedKeys = (records: readonly KeyRecord[], before: LoadedKeys | undefined): LoadedKeys => {
  const signing = new Map(before?.signing)
  for (const record of records) {
    if (record.alg === 'ES256' && !signing.has(record.kid)) signing.set(record.kid, toSigningKey(record))
  }
  const current = signing.get(findByAlg(records, 'ES256')?.kid ?? '')
  const digestKey = findByAlg(records, 'HS256')?.jwk.k
  if (!current || typeof digestKey !== 'string') throw new Error('the store holds no usable signing and digest keys')
  return {
    records,
    signing,
    current,
    digestKey: Buffer.from(digestKey, 'base64url'),
    jwks: { keys: [...signing.values()].map(toPublicJwk) },
  }
}

const toSigningKey = ({ kid, jwk }: KeyRecord): SigningKey => {
  const privateKey = createPrivateKey({ key: { ...jwk }, format: 'jwk' })
  return { kid, alg: 'ES256', privateKey, publicKey: createPublicKey(privateKey) }
}

const toPublicJwk = ({ kid, alg, publicKey }: SigningKey): Readonly<Record<string, unknown>> => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  alg,
  use: 'sig',
})
