import t from 'tap'
import type { Endpoint } from '../../../src/gateway/upstreams/endpoint.ts'
import type { Upstream } from '../../../src/gateway/upstreams/upstream.ts'
import { RoundTripError } from '../../../src/http/client/errors.ts'
import { get, RoundTrip } from '../../http/client/support/round-trips.ts'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { openUpstream } from './support.ts'

const failure = (code: string | undefined, message = `connect ${code}`): RoundTripError =>
  new RoundTripError('unreachable', message, false, code && Object.assign(new Error(message), { code }))

/** An upstream of one member that is on no network, and a clock to turn. */
const openMember = (t: Parameters<typeof openUpstream>[0]) => {
  const clock = { nowMs: 0 }
  const opened = openUpstream(t, { targets: ['http://127.0.0.1:1'] }, { nowMs: () => clock.nowMs })
  return { ...opened, clock, member: memberOf(opened.upstream) }
}

const memberOf = (upstream: Upstream): Endpoint => {
  const member = upstream.take()
  if (member === undefined) throw new Error('no member')
  upstream.giveBack(member)
  return member
}

t.test('an unreachable endpoint is logged once for each reason', t => {
  const { upstream, logged, member } = openMember(t)

  for (const code of ['ECONNREFUSED', 'ECONNREFUSED', 'EHOSTUNREACH', 'ECONNREFUSED', undefined, undefined]) {
    upstream.recordFailure(member, failure(code, code ?? 'no connection within the time for it'))
  }

  t.match(logged, [
    { event: 'upstream_unreachable', upstream: 'up', address: '127.0.0.1:1', code: 'ECONNREFUSED' },
    { code: 'EHOSTUNREACH' },
    { reason: 'no connection within the time for it' },
  ])
  t.equal(logged.length, 3)
  t.end()
})

t.test('after ten seconds without a failure an endpoint is reachable again, and its reasons are forgotten', t => {
  const { upstream, logged, member, clock } = openMember(t)
  upstream.recordFailure(member, failure('ECONNREFUSED'))

  clock.nowMs = 9_999
  upstream.recordResponse(member, 200)
  upstream.recordFailure(member, failure('ECONNREFUSED'))
  t.equal(logged.length, 1, 'it comes and goes')

  clock.nowMs += 10_000
  upstream.recordResponse(member, 500)
  upstream.recordResponse(member, 200)
  upstream.recordFailure(member, failure('ECONNREFUSED'))
  t.match(
    logged.map(({ event }) => event),
    ['upstream_unreachable', 'upstream_reachable', 'upstream_unreachable'],
  )
  t.end()
})

t.test('what becomes of a connection that was made is another thing', t => {
  const { upstream, logged, member } = openMember(t)

  for (const kind of ['closed', 'late', 'invalid'] as const)
    upstream.recordFailure(member, new RoundTripError(kind, 'x', false))

  t.same(logged, [])
  t.end()
})

t.test('a connection that the gateway gives up at its own end is no fault', async t => {
  const { upstream, logged } = openUpstream(t, { targets: [`http://127.0.0.1:${await findFreePort()}`] })
  const member = memberOf(upstream)
  const trip = new RoundTrip(member.pool, get)
  upstream.close()

  upstream.recordFailure(member, (await trip.failure) as RoundTripError)
  t.same(logged, [])
})

t.test('the reason of Node is logged: a refused connection, and a name without address', async t => {
  const refusing = `http://127.0.0.1:${await findFreePort()}`
  for (const [target, code] of [
    [refusing, 'ECONNREFUSED'],
    ['http://nowhere.invalid', /^ENOTFOUND|EAI_AGAIN$/],
    ['unix:/nowhere/service.sock', 'ENOENT'],
  ] as const) {
    const { upstream, logged } = openUpstream(t, { targets: [target], dnsIntervalMs: 60_000 })
    const member = memberOf(upstream)
    const error = await new RoundTrip(member.pool, get).failure
    upstream.recordFailure(member, error as RoundTripError)

    const lines = () => logged.filter(({ event }) => event === 'upstream_unreachable')
    await eventually(() => lines().length === 1)
    t.match(lines(), [{ address: member.address, code }], target)
  }
})
