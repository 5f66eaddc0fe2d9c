import { globSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { decodeConfig, encodeConfig } from '../../../src/cluster/ipc/config-codec.ts'
import { loadConfig, type SidegateConfig } from '../../../src/config/load.ts'
import { type Clients, createClientIntake } from '../../../src/oauth/clients/configured-clients.ts'
import { Secret } from '../../../src/secret.ts'
import { acceptedConfig, client } from '../../config/support.ts'

/** The configuration as a worker receives it: the IPC channel carries JSON. */
const sendOver = (config: SidegateConfig): SidegateConfig =>
  decodeConfig(JSON.parse(JSON.stringify(encodeConfig(config))), createClientIntake())

/** A value with its secrets readable and without undefined members, so that two values can be compared. */
const revealed = (value: unknown): unknown => {
  if (value instanceof Secret) return { secret: value.reveal() }
  if (value instanceof Map) return { entries: [...value] }
  if (Array.isArray(value)) return value.map(revealed)
  if (isClients(value)) return { terms: value.internedMetadata, each: [...value].map(revealed) }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, part]) => part !== undefined)
  return Object.fromEntries(members.map(([key, part]) => [key, revealed(part)]))
}

const isClients = (value: unknown): value is Clients => typeof value === 'object' && value !== null && 'pack' in value

const isFrozen = (value: unknown): boolean => (isClients(value) ? [...value].every(isFrozen) : isFrozenObject(value))

const isFrozenObject = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))

const env = { REDIS_URL: 'redis://gateway:s3cret@redis:6379', PARTNER_SECRET_HASH: 'scrypt$none' }

for (const name of globSync('*.yaml', { cwd: join(import.meta.dirname, '../../../config') })) {
  t.test(`config/${name} arrives in a worker as it was, frozen`, async t => {
    const loaded = await loadConfig(join(import.meta.dirname, '../../../config', name), { ...process.env, ...env })
    if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('\n'))

    const arrived = sendOver(loaded.config)

    t.same(revealed(arrived), revealed(loaded.config))
    t.ok(isFrozen(arrived))
  })
}

t.test('a secret arrives as a secret', async t => {
  const config = await acceptedConfig(t, {
    clients: [client({ client_secret: 'hidden' })],
  })

  const arrived = sendOver(config)

  const [arrivedClient] = arrived.oauth.clients
  t.match(arrivedClient?.secrets[0]?.value, Secret)
  t.notMatch(JSON.stringify(arrived), 'hidden')
})

t.test('the texts of scopes arrive, whatever the names of the scopes are', async t => {
  const scopes = { $: { en: 'All' }, constructor: { en: 'Build' } }
  const config = await acceptedConfig(t, { scopes, clients: [client({ scope: '$ constructor' })] })

  t.same([...sendOver(config).oauth.scopeTexts], Object.entries(scopes))
})

t.test('a plan whose name equals a marker of the encoding is not a marker', async t => {
  const config = await acceptedConfig(t, {})
  const [plan] = Object.values(config.plans)
  if (!plan) throw new Error('there is a plan by default')
  const named = { ...config, plans: { $: { ...plan, name: '$' } } }

  t.same(revealed(sendOver(named)), revealed(named))
})
