import type { Clock } from '../../clock.ts'

/** Bounds how many records of one kind strangers leave: the oldest go first. */
export interface Cap {
  /** Counts a new record. Answers with the ids of those that have to go. */
  add(id: string, untilMs: number, limit: number): readonly string[]
  /** The record is not a stranger's any more, or it is gone. */
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
