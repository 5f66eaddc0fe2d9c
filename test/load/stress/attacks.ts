import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Something that a few clients do to spoil it for the others. */
export interface Attack {
  readonly title: string
  /** Resolves when it is in full swing; it goes on until its process ends. */
  begin(place: Place): Promise<void>
}

/** Where the gateway listens. */
export interface Place {
  readonly host: string
  readonly port: number
}

const heldConnections = 10_000
const slowConnections = 2000
const readers = 200
const garbagePerSec = 2000
/** Fewer, since each takes a connection to the upstream with it. */
const abortsPerSec = 500
const slowEveryMs = 1000
/** The size of the response that a client requests and does not read: more than the buffers between the two hold. */
const unreadBytes = 64 * 1024 * 1024
/** Until what fits is there: about 10 MiB for each of them. */
const fillingMs = 5000

const request = 'GET /a HTTP/1.1\r\nHost: gw.test\r\n\r\n'

export const attacks: Readonly<Record<string, Attack>> = {
  idle: {
    title: '10,000 connections that say nothing',
    begin: place => hold(place, heldConnections, () => undefined),
  },
  kept: {
    title: '10,000 connections kept after a request',
    begin: place => hold(place, heldConnections, socket => socket.write(request)),
  },
  headers: {
    title: '2,000 headers, a field each second',
    begin: place => hold(place, slowConnections, socket => drip(socket, 'GET /a HTTP/1.1\r\n', 'x-slow: 1\r\n')),
  },
  bodies: {
    title: '2,000 bodies, a byte each second',
    begin: place =>
      hold(place, slowConnections, socket =>
        drip(socket, 'POST /up HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 100000\r\n\r\n', 'x'),
      ),
  },
  readers: {
    title: '200 clients that do not read 64 MiB',
    begin: async place => {
      await hold(place, readers, socket => {
        socket.pause()
        socket.write(`GET /down/${unreadBytes} HTTP/1.1\r\nHost: gw.test\r\n\r\n`)
      })
      await sleep(fillingMs)
    },
  },
  halves: {
    title: '2,000 connections closed on one side, in the middle of a header',
    begin: place => hold(place, slowConnections, socket => socket.end('GET /a HTTP/1.1\r\nHost: gw')),
  },
  garbage: {
    title: '2,000 connections a second that bring garbage',
    begin: place => flood(place, garbagePerSec, socket => socket.write('no request at all\r\n\r\n')),
  },
  aborts: {
    title: '500 connections a second, reset in the middle of a body',
    begin: place =>
      flood(place, abortsPerSec, socket => {
        socket.write('POST /up HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 100000\r\n\r\nx')
        setTimeout(() => socket.resetAndDestroy(), 20)
      }),
  },
}

/** @param onOpen also called for the connections that replace those that the gateway has closed */
const hold = async (place: Place, count: number, onOpen: (socket: Socket) => void): Promise<void> => {
  const openOne = (): void => {
    const socket = open(place)
    onOpen(socket)
    // Not all at the same moment, though the gateway may close them so.
    socket.once('close', () => setTimeout(openOne, slowEveryMs * (1 + 2 * Math.random())))
  }
  for (let opened = 1; opened <= count; opened++) {
    openOne()
    if (opened % 100 === 0) await sleep(20)
  }
  await sleep(slowEveryMs)
}

/** Each at a time of its own: of many that were opened together, others would wait for all. */
const drip = (socket: Socket, begin: string, more: string): void => {
  socket.write(begin)
  let timer = setTimeout(() => {
    timer = setInterval(() => socket.write(more), slowEveryMs)
  }, slowEveryMs * Math.random())
  // It clears either.
  socket.once('close', () => clearTimeout(timer))
}

const flood = async (place: Place, perSec: number, onOpen: (socket: Socket) => void): Promise<void> => {
  const startedAtMs = performance.now()
  let opened = 0
  setInterval(() => {
    const due = ((performance.now() - startedAtMs) / 1000) * perSec
    for (; opened < due; opened++) onOpen(open(place))
  }, 1)
  await sleep(slowEveryMs)
}

const open = (place: Place): Socket =>
  connect({ ...place, allowHalfOpen: true })
    .on('error', () => undefined)
    .on('end', function (this: Socket) {
      this.end()
    })
    .resume()
