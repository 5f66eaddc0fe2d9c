/** Limits how much work of one name runs at the same time. */
export interface KeyedMutex {
  /**
   * Runs the work at once if less work of this name runs than may run at the same time, else after all work that was
   * added before it.
   * @param nameOf is not called if no work runs at all and the work completes synchronously
   */
  take<T>(nameOf: () => string, work: () => T | Promise<T>): T | Promise<T>
}

/** The work of one name that runs or waits. */
interface Held {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * A name is kept only while work of it runs. Work that fails frees its slot as well.
 * @param mostAtOnce how much work of a name may run at the same time; it is called again for each piece of work, and
 * less than 1 counts as 1
 */
export const createKeyedMutex = (mostAtOnce: (name: string) => number = () => 1): KeyedMutex => {
  const underWay = new Map<string, Held>()

  const hasRoom = (name: string, { running }: Held): boolean => running === 0 || running < mostAtOnce(name)
  const leave = (name: string, held: Held): void => {
    held.running--
    while (held.waiting.length > 0 && hasRoom(name, held)) held.waiting.shift()?.()
    if (held.running === 0) underWay.delete(name)
  }
  const hold = (name: string, result: Promise<unknown>): void => {
    const held = underWay.get(name) ?? { running: 0, waiting: [] }
    underWay.set(name, held)
    held.running++
    const end = (): void => leave(name, held)
    result.then(end, end)
  }
  const runNow = <T>(nameOf: () => string, work: () => T | Promise<T>): T | Promise<T> => {
    const result = work()
    if (result instanceof Promise) hold(nameOf(), result)
    return result
  }
  const runLater = <T>(name: string, held: Held, work: () => T | Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      held.waiting.push(() => {
        try {
          resolve(runNow(() => name, work))
        } catch (error) {
          reject(error)
        }
      })
    })
  return {
    take: (nameOf, work) => {
      if (underWay.size === 0) return runNow(nameOf, work)
      const name = nameOf()
      const held = underWay.get(name)
      const mayRun = held === undefined || (held.waiting.length === 0 && hasRoom(name, held))
      return mayRun ? runNow(() => name, work) : runLater(name, held, work)
    },
  }
}
