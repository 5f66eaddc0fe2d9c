import type { Clock } from '../../clock.ts'
import { OAuthError } from '../../errors.ts'
import { fetchJwks, toReason } from './fetch-jwks.ts'
import type { KeySource, ReportFetchFailure } from './key-source.ts'
import { type PublicKey, toPublicKeys } from './public-keys.ts'

/** What one fetch gave; instants are of the monotonic clock. */
interface FetchedKeys {
  readonly keys: readonly PublicKey[]
  readonly freshUntilMs: number
  /** Until then they are better than none, should the next fetch fail. */
  readonly usableUntilMs: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** How long keys are used without asking again where their `Cache-Control` does not say, and what it may say. */
const freshMs = { least: minuteMs, usual: 5 * minuteMs, most: hourMs }
/** How long the last keys outlive their freshness while no newer ones can be fetched. */
const graceMs = hourMs
/** Between two fetches from one URI that somebody's bad proof, or a failure, asks for. */
const minFetchIntervalMs = 30_000

/** The keys at a `jwks_uri`. One fetch is under way at a time; everybody who needs it waits for the same one. */
export const createRemoteJwks = (uri: string, clock: Clock, report: ReportFetchFailure): KeySource => {
  let fetched: FetchedKeys | undefined
  let lastFetchMs = Number.NEGATIVE_INFINITY
  let pendingFetch: Promise<void> | undefined

  const fetchKeys = async (): Promise<void> => {
    lastFetchMs = clock.monotonicMs()
    const { jwks, maxAgeSec } = await fetchJwks(uri)
    const freshUntilMs = clock.monotonicMs() + freshFor(maxAgeSec)
    fetched = { keys: toPublicKeys(jwks), freshUntilMs, usableUntilMs: freshUntilMs + graceMs }
  }
  const fetchOnce = (): Promise<void> => {
    pendingFetch ??= fetchKeys()
      .catch(error => {
        report(URL.parse(uri)?.host ?? '', toReason(error))
        throw error
      })
      .finally(() => {
        pendingFetch = undefined
      })
    return pendingFetch
  }
  const waitMs = (): number => Math.max(0, lastFetchMs + minFetchIntervalMs - clock.monotonicMs())
  const requireUsable = (cause?: unknown): readonly PublicKey[] => {
    if (fetched && clock.monotonicMs() < fetched.usableUntilMs) return fetched.keys
    throw unavailable(waitMs(), cause)
  }

  return {
    current() {
      if (fetched && clock.monotonicMs() < fetched.freshUntilMs) return fetched.keys
      if (!pendingFetch && waitMs() > 0) return requireUsable()
      return fetchOnce().then(() => requireUsable(), requireUsable)
    },
    renewed() {
      if (!pendingFetch && waitMs() > 0) return undefined
      const before = fetched
      return fetchOnce().then(
        () => (fetched === before ? undefined : fetched?.keys),
        () => undefined,
      )
    },
  }
}

const freshFor = (maxAgeSec: number | undefined): number =>
  maxAgeSec === undefined ? freshMs.usual : Math.min(Math.max(maxAgeSec * 1000, freshMs.least), freshMs.most)

/** Nobody knows whether the proof is right: that is no refusal of it. */
const unavailable = (waitMs: number, cause: unknown): OAuthError =>
  new OAuthError('temporarily_unavailable', "The client's keys cannot be fetched from its jwks_uri", {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) }, // RFC 9110 section 10.2.3: whole seconds
    cause,
  })
