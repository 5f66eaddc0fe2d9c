import t from 'tap'
import { holdsEach } from '../cases.ts'

holdsEach(t, [
  {
    says: 'groupings have names of their own',
    refused: { groupings: [{ name: 'G' }, { name: 'G' }] },
    message: /groupings\[1\]\.name: another grouping has this name/,
    accepted: { groupings: [{ name: 'G' }, { name: 'H' }] },
  },
  {
    says: 'no grouping is called unmatched',
    refused: { groupings: [{ name: 'unmatched' }] },
    message: /name: metrics use the name unmatched for requests without a grouping/,
    accepted: { groupings: [{ name: 'matched' }] },
  },
  {
    says: 'a header field that is dropped has the name of one',
    refused: { groupings: [{ name: 'G', dropHeaders: ['X Account'] }] },
    message: /groupings\[0\]\.dropHeaders\[0\]: must be the name of a header field/,
    accepted: { groupings: [{ name: 'G', dropHeaders: ['X-Account'] }] },
  },
  ...['Host', 'content-length', 'Transfer-Encoding', 'X-Forwarded-For', 'X-Sidegate-Scope', 'Sec-WebSocket-Key'].map(
    name => ({
      says: `a request cannot do without ${name}`,
      refused: { groupings: [{ name: 'G', dropHeaders: [name] }] },
      message: /groupings\[0\]\.dropHeaders\[0\]: Sidegate sets this header field itself/,
      accepted: {
        groupings: [{ name: 'G', dropHeaders: [`X-${name.replace('Sidegate-', '')}`.replace('X-X-', 'X-Y-')] }],
      },
    }),
  ),
  {
    says: 'a target is an origin',
    refused: { upstreams: { a: { targets: ['http://a/path'] } } },
    message: /targets\[0\]: must be an http or https origin/,
    accepted: { upstreams: { a: { targets: ['http://a:9000'] } } },
  },
  {
    says: 'an upstream has a target',
    refused: { upstreams: { a: { targets: [] } } },
    message: /upstreams\.a\.targets: needs at least one target/,
    accepted: { upstreams: { a: { targets: ['https://a'] } } },
  },
])
