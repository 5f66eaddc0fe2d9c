import t from 'tap'
import { holdsEach } from '../cases.ts'
import { forwarded, publishing, token } from '../support.ts'

holdsEach(t, [
  {
    says: 'two operations do not have the same path and method',
    refused: publishing(token, { ...token, serves: 'introspect' }),
    message: /POST \/token matches the same requests as POST \/token of groupings\[0\]\.operations\[0\]/,
    accepted: publishing(token, { ...token, path: '/introspect', serves: 'introspect' }),
  },
  {
    says: 'an alias is a path like others',
    refused: publishing(forwarded, { ...forwarded, path: '/other', aliases: ['/items'] }),
    message:
      /operations\[1\]\.aliases\[0\]: GET \/items matches the same requests as GET \/items of groupings\[0\]\.operations\[0\]/,
    accepted: publishing(forwarded, { ...forwarded, path: '/other', aliases: ['/more'] }),
  },
  {
    says: 'paths with wildcards and the same beginning do not overlap',
    refused: publishing({ ...forwarded, path: '/a/*' }, { ...forwarded, path: '/a/**' }),
    message: /GET \/a\/\*\* matches the same requests as GET \/a\/\* of groupings\[0\]\.operations\[0\]/,
    accepted: publishing({ ...forwarded, path: '/a/b/*' }, { ...forwarded, path: '/a/**' }),
  },
  {
    says: 'paths with wildcards that differ only later do not overlap',
    refused: publishing({ ...forwarded, path: '/*/a' }, { ...forwarded, path: '/*/*' }),
    message: /matches the same requests as/,
    accepted: publishing({ ...forwarded, path: '/*/a' }, { ...forwarded, path: '/*/b' }),
  },
  {
    says: 'a path without wildcards wins over those with, and methods do not meet',
    refused: publishing({ ...forwarded, path: '/**' }, { ...forwarded, path: '/*' }),
    message: /matches the same requests as/,
    accepted: publishing(
      { ...forwarded, path: '/**' },
      { ...forwarded, path: '/' },
      { ...forwarded, method: 'POST', path: '/*' },
    ),
  },
  {
    says: 'a base path has no wildcards',
    refused: { groupings: [{ name: 'G', basePath: '/*' }] },
    message: /basePath: a base path has no wildcards/,
    accepted: { groupings: [{ name: 'G', basePath: '/a' }] },
  },
  {
    says: 'at most one operation for each endpoint is advertised',
    refused: publishing({ ...token, advertise: true }, { ...token, path: '/b', advertise: true }),
    message: /advertise: another operation that serves token is advertised/,
    accepted: publishing({ ...token, advertise: true }, { ...token, path: '/b' }),
  },
])
