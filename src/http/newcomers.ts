import type { Server } from 'node:net'
import { Roll, type RollPlace } from '../roll.ts'
import { type Entrance, type Handle, openEntrance } from './entrance.ts'
import { takeTurn } from './turns.ts'

/** Connections that have said nothing yet. */
export interface Newcomers {
  /** How many there are. */
  count(): number
  /** How many there ever were: each connection is one first, or none where Node has other names for what that takes. */
  accepted(): number
  /** Has the connections of this listener wait for their first bytes, from when it listens. */
  receive(listener: Server): void
  /** Ends those that there are, soon, where they say nothing until then. The callback is told of each. */
  makeRoom(onEnd: () => void): void
}

export interface NewcomerOptions {
  /** How long one may say nothing, in milliseconds; it ends a fiftieth later. 0: for ever. */
  readonly timeoutMs: number
  /** Whether what comes first is for Node's TLS, and not for its HTTP. */
  readonly isSecure: boolean
  /** Told of each that ends because it said nothing. */
  onLate(): void
}

interface Newcomer {
  readonly handle: Waiting
  readonly entrance: Entrance<Waiting>
  readonly roll: Roll<Newcomer>
  place?: RollPlace<Newcomer>
  /** Its end is a matter of its turn. */
  isDue: boolean
}

const newcomer = Symbol('newcomer')

type Waiting = Handle & { [newcomer]?: Newcomer | undefined }

/** Into so many parts the time is divided in which one may say nothing. */
const parts = 64

/**
 * Connections are no more than what the system knows of them until something comes. A socket of Node's with its parser is ten
 * thousand bytes in dozens of objects, which are copied twice, marked, looked at and taken apart: of ten thousand that say
 * nothing others felt it.
 */
export const createNewcomers = ({ timeoutMs, isSecure, onLate }: NewcomerOptions): Newcomers => {
  // Whoever comes at the end of a part has all the time as well.
  const rolls = Array.from({ length: parts + 1 }, () => new Roll<Newcomer>())
  let part = 0
  let count = 0
  let accepted = 0
  let timer: NodeJS.Timeout | undefined

  const currentRoll = (): Roll<Newcomer> => rolls[part] as Roll<Newcomer>
  const enter = (handle: Waiting, entrance: Entrance<Waiting>): void => {
    const entered: Newcomer = { handle, entrance, roll: currentRoll(), isDue: false }
    entered.place = entered.roll.enter(entered)
    handle[newcomer] = entered
    count++
    // In whole milliseconds, as timers are: a part less of each would end it early.
    if (timeoutMs > 0) timer ??= setInterval(beginPart, Math.ceil(timeoutMs / parts)).unref()
  }
  const leave = ({ handle, roll, place }: Newcomer): void => {
    handle[newcomer] = undefined
    if (place) roll.leave(place)
    count--
  }
  const end = (ended: Newcomer): void => {
    leave(ended)
    ended.entrance.close(ended.handle)
  }
  const endSoon = (due: Newcomer, onEnd: () => void): void => {
    if (due.isDue) return
    due.isDue = true
    takeTurn(() => {
      if (due.handle[newcomer] !== due) return false
      end(due)
      onEnd()
      return true
    })
  }
  const beginPart = (): void => {
    part = (part + 1) % rolls.length
    for (const late of currentRoll()) endSoon(late, onLate)
    if (count > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const admit = (heard: Newcomer, bytes: Buffer): void => {
    leave(heard)
    const socket = heard.entrance.admit(heard.handle)
    // HTTP takes it as if the socket had read it; TLS takes what is left to be read.
    if (isSecure) socket?.unshift(bytes)
    else socket?.emit('data', bytes)
  }

  function hear(this: Waiting, buffer: ArrayBuffer | undefined): void {
    const heard = this[newcomer]
    if (heard === undefined) return
    if (buffer === undefined) end(heard)
    else admit(heard, Buffer.from(buffer, 0, this.bytesRead))
  }
  return {
    count: () => count,
    accepted: () => accepted,
    receive: listener =>
      openEntrance<Waiting>(listener, (handle, entrance) => {
        accepted++
        entrance.hold()
        handle.onread = hear
        handle.reading = true
        if (handle.readStart() === 0) enter(handle, entrance)
        else entrance.close(handle)
      }),
    makeRoom(onEnd) {
      for (const roll of rolls) for (const silent of roll) endSoon(silent, onEnd)
    },
  }
}
