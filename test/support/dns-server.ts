import { createSocket, type RemoteInfo } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'

/** A name server on 127.0.0.1 that knows IPv4 addresses (RFC 1035). */
export interface DnsServer {
  /** Sets the answer for any name; `fails`: SERVFAIL. */
  say(addresses: readonly string[] | 'fails'): void
  /** How often it was asked. */
  asked(): number
  /** The addresses of a name, as it says them. */
  lookUp(name: string): Promise<readonly string[]>
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export const startDnsServer = async (t: Teardown, first: readonly string[] | 'fails'): Promise<DnsServer> => {
  let said = first
  let count = 0
  const socket = createSocket('udp4')
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    count += 1
    socket.send(answerTo(query, said), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return {
    say: addresses => {
      said = addresses
    },
    asked: () => count,
    lookUp: name => resolver.resolve4(name),
  }
}

const headerBytes = 12

/** The question again, with an answer for each address. */
const answerTo = (query: Buffer, said: readonly string[] | 'fails'): Buffer => {
  const questionEnd = query.indexOf(0, headerBytes) + 5
  const question = query.subarray(headerBytes, questionEnd)
  const addresses = said === 'fails' ? [] : said
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(query.readUInt16BE(0), 0)
  header.writeUInt16BE(said === 'fails' ? 0x8182 : 0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  return Buffer.concat([header, question, ...addresses.map(recordOf)])
}

/** The name asked for (by a pointer), type A, class IN, no time to live, four bytes. */
const recordOf = (address: string): Buffer =>
  Buffer.from([0xc0, headerBytes, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)])
