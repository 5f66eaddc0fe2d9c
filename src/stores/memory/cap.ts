import type { Clock } from '../../clock.ts'

/** Bounds the number of records of one kind that unauthenticated clients create: the oldest are removed first. */
export interface Cap {
  /** Counts a new record. Returns the ids of the records that must be removed. */
  add(id: string, untilMs: number, limit: number): readonly string[]
  /** The record does not count any more, because its user or client has authenticated or it was removed. */
  release(id: string): void
}

export const createCap = (clock: Clock): Cap => {
  const untilMsById = new Map<string, number>()

  const dropExpired = (): void => {
    for (const [id, untilMs] of untilMsById) {
      if (untilMs > clock.nowMs()) return
      untilMsById.delete(id)
    }
  }
  return {
    add(id, untilMs, limit) {
      dropExpired()
      untilMsById.set(id, untilMs)
      const shed = untilMsById.size > limit ? [...untilMsById.keys()].slice(0, untilMsById.size - limit) : []
      for (const old of shed) untilMsById.delete(old)
      return shed
    },
    release: id => void untilMsById.delete(id),
  }
}
