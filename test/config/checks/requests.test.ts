import t from 'tap'
import { holdsEach } from '../cases.ts'
import { acceptedConfig, forwarded, publishing, token } from '../support.ts'

holdsEach(t, [
  {
    says: 'the time for a header is not longer than the time for its request',
    refused: { requests: { headerTimeout: '11s', timeout: '10s' } },
    message: /requests\.headerTimeout: is longer than requests\.timeout, the time for the whole request/,
    accepted: { requests: { headerTimeout: '10s', timeout: '10s' } },
  },
  {
    says: 'a size has a unit',
    refused: { requests: { maxHeader: '16K' } },
    message: /requests\.maxHeader: must be a size from 1KiB to 1MiB/,
    accepted: { requests: { maxHeader: '16KiB' } },
  },
  {
    says: 'the limit of a header leaves room for a request',
    refused: { requests: { maxHeader: '1023B' } },
    message: /requests\.maxHeader: must be a size from 1KiB/,
    accepted: { requests: { maxHeader: '1024B' } },
  },
  {
    says: 'the limit of header fields allows some fields',
    refused: { requests: { maxFields: 9 } },
    message: /requests\.maxFields: must be a whole number from 10 to 2000/,
    accepted: { requests: { maxFields: '10' } },
  },
  {
    says: 'the limit of connections allows some connections',
    refused: { requests: { maxConnections: 9 } },
    message: /requests\.maxConnections: must be a whole number from 10 to 1000000/,
    accepted: { requests: { maxConnections: 10 } },
  },
  {
    says: 'only an operation that forwards has a limit of its own for bodies',
    refused: publishing({ ...token, maxBody: '1MiB' }),
    message: /maxBody: is only for forwarded operations/,
    accepted: publishing({ ...forwarded, maxBody: '1MiB' }),
  },
])

t.test('sizes come as bytes, the grouping speaks for its operations', async t => {
  const { requests, operations } = await acceptedConfig(t, {
    ...publishing(),
    requests: { maxHeader: '32KiB' },
    groupings: [{ name: 'G', maxBody: '2GiB', operations: [forwarded, { ...forwarded, path: '/b', maxBody: '0B' }] }],
  })

  t.same(requests, {
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 300_000,
    keepAliveTimeoutMs: 75_000,
    sendTimeoutMs: 60_000,
    maxHeaderBytes: 32_768,
    maxHeaderFields: 100,
    maxConnections: 20_000,
  })
  t.match(operations, [{ target: { maxBodyBytes: 2 * 1024 ** 3 } }, { target: { maxBodyBytes: 0 } }])
})
