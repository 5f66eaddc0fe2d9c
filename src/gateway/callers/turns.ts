/** Work that takes turns by name. */
export interface Turns {
  /** Runs the work at once where nothing of this name is under way, else after all that came before it. */
  take<T>(name: string, work: () => T | Promise<T>): T | Promise<T>
}

/** Holds a name only while something of it is under way. Work that fails ends its turn as well. */
export const createTurns = (): Turns => {
  const last = new Map<string, Promise<void>>()
  return {
    take: (name, work) => {
      const before = last.get(name)
      const result = before === undefined ? work() : before.then(work)
      if (!(result instanceof Promise)) return result
      const leave = (): void => {
        if (last.get(name) === turn) last.delete(name)
      }
      const turn = result.then(leave, leave)
      last.set(name, turn)
      return result
    },
  }
}
