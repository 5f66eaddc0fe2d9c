/** Work that takes turns by name. */
export interface Turns {
  /**
   * Runs the work at once where nothing of this name is under way, else after all that came before it.
   * @param nameOf not called where nothing at all is under way and the work waits for nothing
   */
  take<T>(nameOf: () => string, work: () => T | Promise<T>): T | Promise<T>
}

/** Holds a name only while something of it is under way. Work that fails ends its turn as well. */
export const createTurns = (): Turns => {
  const last = new Map<string, Promise<void>>()
  const hold = (name: string, result: Promise<unknown>): void => {
    const leave = (): void => {
      if (last.get(name) === turn) last.delete(name)
    }
    const turn = result.then(leave, leave)
    last.set(name, turn)
  }
  return {
    take: (nameOf, work) => {
      const before = last.size === 0 ? undefined : last.get(nameOf())
      const result = before === undefined ? work() : before.then(work)
      if (result instanceof Promise) hold(nameOf(), result)
      return result
    },
  }
}
