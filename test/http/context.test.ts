import t from 'tap'
import { createRequestContext } from './support/request-context.ts'

const claims = ['X-Forwarded-For', '198.51.100.7, 192.0.2.8', 'X-Request-Id', 'chosen']

t.test('a peer that is not trusted names neither the address of the client nor the id of the request', async t => {
  for (const trustedProxies of [[], ['10.0.0.0/8']]) {
    const { address, id, trustedPeer } = createRequestContext(claims, { peer: '203.0.113.9', trustedProxies })

    t.equal(address, '203.0.113.9')
    t.match(id, /^[0-9a-f-]{36}$/)
    t.equal(trustedPeer, false)
  }
})

t.test('a trusted peer names both', async t => {
  const { address, id, trustedPeer, peer } = createRequestContext(claims, {
    peer: '10.1.2.3',
    trustedProxies: ['10.0.0.0/8'],
  })

  t.same(
    { address, id, trustedPeer, peer },
    { address: '192.0.2.8', id: 'chosen', trustedPeer: true, peer: '10.1.2.3' },
  )
})

t.test('an id that is too long, or has characters that a log cannot take, is replaced', async t => {
  for (const sent of ['a'.repeat(129), 'a"b', 'a b', '']) {
    const { id } = createRequestContext(['X-Request-Id', sent], { peer: '10.1.2.3', trustedProxies: ['10.0.0.0/8'] })

    t.match(id, /^[0-9a-f-]{36}$/, sent)
  }
})
