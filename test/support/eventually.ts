import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until the condition holds; throws the last reason when it has not after `patienceMs`. */
export const eventually = async (condition: () => unknown, patienceMs = 30_000): Promise<void> => {
  const deadlineMs = performance.now() + patienceMs
  let reason: unknown
  do {
    try {
      if (await condition()) return
      reason = undefined
    } catch (error) {
      reason = error
    }
    await sleep(5)
  } while (performance.now() < deadlineMs)
  throw new Error(`this did not come true within ${patienceMs} ms: ${condition}`, { cause: reason })
}
