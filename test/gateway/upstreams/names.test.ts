import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { Upstream } from '../../../src/gateway/upstreams/upstream.ts'
import { RoundTripError } from '../../../src/http/client/errors.ts'
import { ask, get, RoundTrip } from '../../http/client/support/round-trips.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { eventually } from '../../support/eventually.ts'
import { openUpstream } from './support.ts'

/** The same service on several addresses of this machine, on one port: each says where it is, when it is let. */
const startService = async (t: Test, addresses: readonly string[]) => {
  const held: ServerResponse[] = []
  const state = { isHolding: false }
  let port = 0
  for (const address of addresses) {
    const server = createServer((req, res) => {
      if (state.isHolding) held.push(res)
      else res.end(`${address} as ${req.headers.host}`)
    }).listen(port, address)
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  return { target: `http://service.test:${port}`, port, held, state }
}

/** Which members are chosen, over many requests. */
const chosen = (upstream: Upstream): readonly string[] => {
  const members = Array.from({ length: 60 }, () => upstream.take())
  for (const member of members) if (member) upstream.giveBack(member)
  return [...new Set(members.map(member => member?.address.replace(/:\d+$/, '') ?? 'none'))].sort()
}

const isChosen = (upstream: Upstream, ...addresses: readonly string[]) =>
  eventually(() => chosen(upstream).join() === addresses.join())

t.test('every address of a name is a member, and asked by the name', async t => {
  const { target, port } = await startService(t, ['127.0.0.1', '127.0.0.2'])
  const dns = await startDnsServer(t, ['127.0.0.1', '127.0.0.2'])
  const { upstream } = openUpstream(t, { targets: [target] }, dns)
  await isChosen(upstream, '127.0.0.1', '127.0.0.2')

  const told = new Set<string>()
  for (let i = 0; i < 40; i++) {
    const member = upstream.take()
    if (member) told.add(await ask(member.pool, { ...get, head: `GET / HTTP/1.1\r\nHost: ${member.host}\r\n\r\n` }))
    if (member) upstream.giveBack(member)
  }
  t.same([...told].sort(), [`127.0.0.1 as service.test:${port}`, `127.0.0.2 as service.test:${port}`])
})

t.test('an address that goes finishes what it has, one that comes is asked', async t => {
  const { target, held, state } = await startService(t, ['127.0.0.1', '127.0.0.2'])
  const dns = await startDnsServer(t, ['127.0.0.1'])
  const { upstream, logged } = openUpstream(t, { targets: [target] }, dns)
  await isChosen(upstream, '127.0.0.1')
  state.isHolding = true
  const old = upstream.take()
  if (!old) throw new Error('no member')
  const trip = new RoundTrip(old.pool)
  await eventually(() => held.length === 1)

  dns.say(['127.0.0.2'])
  await isChosen(upstream, '127.0.0.2')
  t.match(logged, [{ event: 'upstream_addresses_changed', name: 'service.test', addresses: ['127.0.0.2'] }])
  const { socket } = held[0] as ServerResponse
  held[0]?.end('whole')
  t.equal(await trip.failure, undefined)
  t.equal(trip.body, 'whole')
  await eventually(() => socket?.destroyed !== false)
})

t.test('a member whose address stays keeps what is known of it', async t => {
  const dns = await startDnsServer(t, ['127.0.0.1', '127.0.0.2'])
  const { upstream } = openUpstream(t, { targets: ['http://service.test:1'] }, dns)
  await isChosen(upstream, '127.0.0.1', '127.0.0.2')
  const first = Array.from({ length: 60 }, () => upstream.take()).find(member => member?.address === '127.0.0.1:1')
  if (!first) throw new Error('no member')
  for (let i = 0; i < 5; i++) upstream.recordFailure(first, new RoundTripError('unreachable', 'refused', false))

  dns.say(['127.0.0.1', '127.0.0.2', '127.0.0.3'])
  await isChosen(upstream, '127.0.0.2', '127.0.0.3')
  t.ok(first.isEjected)
})

t.test('while a name cannot be resolved, its last addresses are used', async t => {
  const dns = await startDnsServer(t, ['127.0.0.1'])
  const { upstream, logged } = openUpstream(t, { targets: ['http://service.test:1'] }, dns)
  await isChosen(upstream, '127.0.0.1')

  for (const nothing of ['fails', []] as const) {
    dns.say(nothing)
    const before = dns.asked()
    await eventually(() => dns.asked() > before + 3)
    t.same(chosen(upstream), ['127.0.0.1'])
  }
  t.match(logged, [{ event: 'upstream_name_unresolved', name: 'service.test', reason: 'ESERVFAIL' }])
  t.equal(logged.length, 1, 'said once')
  dns.say(['127.0.0.2'])
  await isChosen(upstream, '127.0.0.2')
})

t.test('a name that was never found stands for itself', async t => {
  const dns = await startDnsServer(t, 'fails')
  const { upstream } = openUpstream(t, { targets: ['http://service.test:1'] }, dns)

  await eventually(() => dns.asked() > 1)
  t.same(chosen(upstream), ['service.test'])
})

t.test('addresses and localhost are not looked up', async t => {
  const dns = await startDnsServer(t, ['127.0.0.2'])
  const targets = ['http://127.0.0.1:1', 'http://[::1]:1', 'http://localhost:1', 'unix:/run/service.sock']
  const { upstream } = openUpstream(t, { targets: [...targets, 'http://service.test:1'] }, dns)

  await isChosen(upstream, '/run/service.sock', '127.0.0.1', '127.0.0.2', '[::1]', 'localhost')
  const before = dns.asked()
  await eventually(() => dns.asked() > before)
  t.same(chosen(upstream), ['/run/service.sock', '127.0.0.1', '127.0.0.2', '[::1]', 'localhost'])
})

t.test('of two families the one that comes first is used', async t => {
  const lookUp = async () => ['fd00::1', '10.0.0.1', 'fd00::2']
  const { upstream } = openUpstream(t, { targets: ['http://service.test:1'] }, { lookUp })

  await isChosen(upstream, '[fd00::1]', '[fd00::2]')
})
