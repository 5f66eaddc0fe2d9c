import t from 'tap'
import { findRestartOnlyChange } from '../../src/app/restart-only-settings.ts'
import { publicJwk } from '../config/keys.ts'
import { acceptedConfig, authorize, client, forwarded, publishing } from '../config/support.ts'

const handoff = {
  ...publishing(authorize),
  login: { mode: 'handoff', url: 'http://127.0.0.1:3000/login' },
  internal: { listen: '127.0.0.1:9091', jwks: { keys: [publicJwk('ES256')] } },
}

t.test('operations, clients and plans can change while the gateway runs', async t => {
  const before = await acceptedConfig(t, {})
  const after = await acceptedConfig(t, {
    ...publishing(forwarded),
    issuer: 'https://auth.example',
    clients: [client()],
    plans: { p: { rate: '1/1second' } },
    shutdown: { delay: '1s' },
    trustedProxies: ['10.0.0.0/8'],
  })

  t.equal(findRestartOnlyChange(before, after), undefined)
})

for (const [key, change] of Object.entries({
  listen: { listen: '127.0.0.1:1' },
  admin: { admin: '127.0.0.1:2' },
  workers: { workers: 3 },
  pods: { pods: 2 },
  store: { store: 'sqlite:elsewhere.db' },
  requests: { requests: { headerTimeout: '1s' } },
})) {
  t.test(`another ${key} needs a restart, and the message names only this key`, async t => {
    const before = await acceptedConfig(t, { workers: 2 })
    const after = await acceptedConfig(t, { workers: 2, ...change })

    const one = `${key} cannot change while Sidegate runs: restart it, or change it back`
    t.equal(findRestartOnlyChange(before, after), one)
  })
}

t.test('another store password counts as another store, and the message does not show the password', async t => {
  const before = await acceptedConfig(t, { store: 'redis://gateway:one@redis:6379' })
  const after = await acceptedConfig(t, { store: 'redis://gateway:other@redis:6379' })

  t.equal(
    findRestartOnlyChange(before, after),
    'store cannot change while Sidegate runs: restart it, or change it back',
  )
})

t.test(
  'with a private listener, handoff cannot change to embedded sign-in at run time, but its login URL can',
  async t => {
    const before = await acceptedConfig(t, handoff)
    const elsewhere = { ...handoff, login: { ...handoff.login, url: 'http://127.0.0.1:3001/login' } }

    const embedded = await acceptedConfig(t, publishing(authorize))
    t.match(findRestartOnlyChange(before, embedded), /^internal cannot change/)
    t.equal(findRestartOnlyChange(before, await acceptedConfig(t, elsewhere)), undefined)
  },
)
