import t, { type Test } from 'tap'
import { Endpoint } from '../../../src/gateway/upstreams/endpoint.ts'
import { LoadBalancer } from '../../../src/gateway/upstreams/load-balancer.ts'
import { OutlierDetection } from '../../../src/gateway/upstreams/outlier-detection.ts'
import type { OutlierDetectionOptions } from '../../../src/gateway/upstreams/upstream-options.ts'
import { toEndpointAddress } from '../../../src/http/client/endpoint-address.ts'
import { eventually } from '../../support/eventually.ts'

const limits = {
  connectTimeoutMs: 1000,
  headersTimeoutMs: 1000,
  bodyTimeoutMs: 1000,
  totalTimeoutMs: 1000,
  keepAliveMs: 1000,
}

const addMember = (port: number): Endpoint => {
  const target = `http://127.0.0.1:${port}`
  return new Endpoint(target, toEndpointAddress(target), limits)
}

/** An upstream with a number of endpoints, and the reports about them. */
const createMembers = (t: Test, count: number, options: Partial<OutlierDetectionOptions> = {}) => {
  const said: (string | number)[] = []
  const states: Record<string, number> = {}
  const members = new LoadBalancer((state, difference) => {
    states[state] = (states[state] ?? 0) + difference
  })
  members.replace(Array.from({ length: count }, (_, place) => addMember(place + 1)))
  const outlierDetection = new OutlierDetection(
    { failures: 3, timeMs: 60_000, maxTimeMs: 300_000, maxEjectionPercent: 50, ...options },
    members,
    {
      ejected: (member, reason, forMs) => said.push(member.address, reason, forMs),
      restored: member => said.push(member.address, 'returned'),
    },
  )
  t.teardown(() => outlierDetection.close())
  const fail = (place: number, times = 1): void => {
    for (let i = 0; i < times; i++) outlierDetection.count(members.all[place] as Endpoint, 'connect')
  }
  return { members, outlierDetection, said, states, fail }
}

t.test('so many failures in a row eject a member, one fewer does not', async t => {
  const { members, said, states, fail } = createMembers(t, 2)

  fail(0, 2)
  t.same(said, [])
  fail(0)
  t.same(said, ['127.0.0.1:1', 'connect', 60_000])
  t.match(states, { available: 1, ejected: 1, unhealthy: undefined })
  for (let i = 0; i < 20; i++) t.equal(members.choose().address, '127.0.0.1:2')
})

t.test('at most half of them are ejected, and never the last one', async t => {
  for (const [count, maxEjectionPercent, ejected] of [
    [1, 100, 0],
    [2, 50, 1],
    [2, 100, 1],
    [3, 50, 1],
    [4, 50, 2],
    [4, 49, 1],
    [4, 100, 3],
  ] as const) {
    const { states, fail } = createMembers(t, count, { maxEjectionPercent })

    for (let place = 0; place < count; place++) fail(place, 5)
    t.equal(states.ejected ?? 0, ejected, `${ejected} of ${count} at ${maxEjectionPercent} %`)
  }
})

t.test('an endpoint that was kept because of the limit is ejected at its next failure', async t => {
  const { outlierDetection, members, said, fail } = createMembers(t, 2)

  fail(0, 3)
  fail(1, 3)
  t.equal(said.length, 3)
  const [first, second] = members.all
  if (first) outlierDetection.forget(first)
  members.replace([second as Endpoint, addMember(3)])
  fail(0)

  t.same(said.slice(3), ['127.0.0.1:2', 'connect', 60_000])
})

t.test('a member that fails as soon as it is back is out for twice as long, up to a limit', async t => {
  const times: number[] = []
  const members = new LoadBalancer(() => undefined)
  members.replace([addMember(1), addMember(2)])
  const outlierDetection: OutlierDetection = new OutlierDetection(
    { failures: 3, timeMs: 10, maxTimeMs: 35, maxEjectionPercent: 50 },
    members,
    {
      ejected: (_member, _reason, forMs) => times.push(forMs),
      restored: member => outlierDetection.count(member, 'connect'),
    },
  )
  t.teardown(() => outlierDetection.close())
  for (let i = 0; i < 3; i++) outlierDetection.count(members.all[0] as Endpoint, '5xx')

  await eventually(() => times.length >= 4)
  t.same(times.slice(0, 4), [10, 20, 35, 35])
})

t.test('with 0 failures no endpoint is ejected', async t => {
  const { said, fail } = createMembers(t, 2, { failures: 0 })

  fail(0, 100)
  t.same(said, [])
})

t.test('where all are out of order all are asked', async t => {
  const { members, states } = createMembers(t, 2)

  for (const member of members.all) member.isHealthy = false
  members.update()
  const asked = new Set(Array.from({ length: 100 }, () => members.choose().address))
  t.match(states, { available: 0, unhealthy: 2 })
  t.equal(asked.size, 2)
})
