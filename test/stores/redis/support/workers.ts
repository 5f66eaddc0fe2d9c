import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Charge, Limiter, Verdict } from '../../../../src/stores/ports/limiter.ts'
import { createRedisLimiter } from '../../../../src/stores/redis/limiter.ts'
import { parseStoreUrl, type RedisUrl } from '../../../../src/stores/store-url.ts'
import type { SeenAdmission } from '../../../conformance/oracle.ts'

export const toRedisUrl = (text: string): RedisUrl => {
  const url = parseStoreUrl(text)
  if ('problem' in url || url.kind !== 'redis') throw new Error(`not the address of a Redis: ${text}`)
  return url
}

/** A worker's limiter, and what it reported about Redis. */
export interface Worker {
  readonly limiter: Limiter
  /** True for up, false for away. */
  readonly changes: readonly boolean[]
  /** Why it was away, each time. */
  readonly reasons: readonly string[]
}

export const openWorker = async (t: Test, url: string, share = { index: 0, of: 1 }): Promise<Worker> => {
  const changes: boolean[] = []
  const reasons: string[] = []
  const onStateChange = (up: boolean, error?: Error): void => {
    changes.push(up)
    if (error) reasons.push(error.message)
  }
  const limiter = await createRedisLimiter(toRedisUrl(url), { share: () => share, onStateChange })
  t.teardown(() => limiter.close())
  return { limiter, changes, reasons }
}

/** Workers that share the plan while Redis is away. */
export const openWorkers = (t: Test, url: string, of: number): Promise<readonly Worker[]> =>
  Promise.all(Array.from({ length: of }, (_, index) => openWorker(t, url, { index, of })))

/** A verdict, and when one caller sent the charge and had the answer. */
export interface SeenVerdict {
  readonly verdict: Verdict
  readonly seen: SeenAdmission
}

/** Callers that send charges until they are stopped. Each caller sends again when it has its answer. */
export interface SteadyCharges {
  readonly verdicts: readonly SeenVerdict[]
  /** Resolves when every caller was answered. */
  stop(): Promise<readonly SeenVerdict[]>
}

export const chargeSteadily = (t: Test, workers: readonly Worker[], charge: Charge): SteadyCharges => {
  const verdicts: SeenVerdict[] = []
  let isRunning = true
  const call = async ({ limiter }: Worker): Promise<void> => {
    while (isRunning) {
      const sentAtMs = performance.now()
      const verdict = await limiter.charge(charge)
      verdicts.push({ verdict, seen: { sentAtMs, answeredAtMs: performance.now() } })
      await sleep(2)
    }
  }
  const done = Promise.all(workers.map(call))
  const stop = async (): Promise<readonly SeenVerdict[]> => {
    isRunning = false
    await done
    return verdicts
  }
  t.teardown(stop)
  return { verdicts, stop }
}

export const admissionsOf = (verdicts: readonly SeenVerdict[]): readonly SeenAdmission[] =>
  verdicts.filter(({ verdict }) => verdict.allowed).map(({ seen }) => seen)

export const longestWaitMs = (verdicts: readonly SeenVerdict[]): number =>
  Math.max(...verdicts.map(({ seen }) => seen.answeredAtMs - seen.sentAtMs))

/** The share of verdicts that the shared count gave. It may be below 1 on a busy machine, which can pause for 50 ms. */
export const shareOfStore = (verdicts: readonly SeenVerdict[]): number =>
  verdicts.filter(({ verdict }) => verdict.source === 'store').length / verdicts.length

/** Tries again if a busy machine delayed an answer for about as long as the worker waits for it. */
export const undisturbed = async (attempt: () => Promise<readonly SeenVerdict[]>): Promise<readonly SeenVerdict[]> => {
  for (let attempts = 1; ; attempts++) {
    const verdicts = await attempt()
    if (longestWaitMs(verdicts) < 40 || attempts === 5) return verdicts
  }
}
