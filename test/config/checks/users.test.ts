import t from 'tap'
import { holdsEach } from '../cases.ts'
import { client, hash } from '../support.ts'

const users = (...list: readonly unknown[]): unknown => ({ login: { users: list } })

holdsEach(t, [
  {
    says: 'a user has a password',
    refused: users({ username: 'alice' }),
    message: /login\.users\[0\]\.password_hash: missing/,
    accepted: users({ username: 'alice', password_hash: hash }),
  },
  {
    says: 'a password is in its stored form',
    refused: users({ username: 'alice', password_hash: 'wonderland' }),
    message: /password_hash: is not a hash of a secret; use the output of `sidegate hash`/,
    accepted: users({ username: 'alice', password_hash: hash }),
  },
  {
    says: 'a username closes the bidirectional override that it opens',
    refused: users({ username: '\u202ealice', password_hash: hash }),
    message: /username: must close each bidirectional control character/,
    accepted: users({ username: '\u2068alice\u2069', password_hash: hash }),
  },
  {
    says: 'a username is given once',
    refused: users({ username: 'alice', password_hash: hash }, { username: 'alice', password_hash: hash }),
    message: /users\[1\]\.username: another user has this username/,
    accepted: users({ username: 'alice', password_hash: hash }, { username: 'bob', password_hash: hash }),
  },
  {
    says: 'a sub is given once',
    refused: users(
      { username: 'alice', password_hash: hash, sub: 's' },
      { username: 'bob', password_hash: hash, sub: 's' },
    ),
    message: /users\[1\]\.sub: another user has this sub/,
    accepted: users({ username: 'alice', password_hash: hash, sub: 's' }, { username: 'bob', password_hash: hash }),
  },
  {
    says: 'a user cannot be mistaken for a client',
    refused: {
      clients: [client()],
      login: { users: [{ username: 'alice', password_hash: hash, sub: 'shop' }] },
    },
    message: /sub: equals a client_id/,
    accepted: {
      clients: [client()],
      login: { users: [{ username: 'shop', password_hash: hash, sub: 'alice' }] },
    },
  },
])
