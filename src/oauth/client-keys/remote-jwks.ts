import type { Clock } from '../../clock.ts'
import { OAuthError } from '../../errors.ts'
import { fetchFailureReason, fetchJwks } from './fetch-jwks.ts'
import type { KeySource, ReportFetchFailure } from './key-source.ts'
import { type PublicKey, toPublicKeys } from './public-keys.ts'

/** The result of one fetch. The instants are of the monotonic clock. */
interface FetchedKeys {
  readonly keys: readonly PublicKey[]
  readonly freshUntilMs: number
  /** Until this instant the keys are still used if the next fetch fails. */
  readonly usableUntilMs: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/**
 * How long keys are used before the next fetch: `usual` without a `max-age` in `Cache-Control`, else `max-age`
 * between the bounds.
 */
const freshMs = { least: minuteMs, usual: 5 * minuteMs, most: hourMs }
/** How long keys are still used after that while no newer ones can be fetched. */
const graceMs = hourMs
/**
 * The minimum time between two fetches of one URI if a proof that no key fits, or a failed fetch, asks for the next
 * one.
 */
const minFetchIntervalMs = 30_000

/**
 * The keys at a `jwks_uri`. At most one fetch runs at a time; all requests that need the keys wait for the same
 * fetch.
 */
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
        report(URL.parse(uri)?.host ?? '', fetchFailureReason(error))
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
    refreshed() {
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

/** The proof could not be checked, so this is no refusal of the proof. */
const unavailable = (waitMs: number, cause: unknown): OAuthError =>
  new OAuthError('temporarily_unavailable', "The client's keys cannot be fetched from its jwks_uri", {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) }, // RFC 9110 section 10.2.3: whole seconds
    cause,
  })
