import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { configJsonSchema, loadConfig, operationLabel, type SidegateConfig } from '../../src/config/load.ts'
import { verifySecretHash } from '../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../src/secret.ts'

const folder = join(import.meta.dirname, '../../config')
const samples = readdirSync(folder).filter(name => name.endsWith('.yaml'))

const load = async (name: string): Promise<SidegateConfig> => {
  const loaded = await loadConfig(join(folder, name), {})
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}

for (const name of samples) {
  t.test(`${name} is accepted as it is, and tells editors its schema`, async t => {
    await load(name)

    const [firstLine] = readFileSync(join(folder, name), 'utf8').split('\n')
    t.equal(firstLine, '# yaml-language-server: $schema=./sidegate.schema.json')
  })
}

t.test('the schema beside the samples is the one that the code has', async t => {
  t.same(JSON.parse(readFileSync(join(folder, 'sidegate.schema.json'), 'utf8')), configJsonSchema())
})

t.test('sidegate.yaml publishes every row of the interface, in its grouping and version', async t => {
  const config = await load('sidegate.yaml')

  const published = config.operations
    .slice(0, 8)
    .map(operation => `${operation.grouping} ${operation.version} ${operationLabel(operation)}`)
  t.same(published, [
    'V1_Extension_2 1.0.0 POST /token',
    'V1_Extension_2 1.0.0 POST /introspect',
    'V1_Extension_1 1.0.0 GET /v1/metadata/oauth2',
    'Psd2-V1-Oauth 1.0.0 POST /v1/oauth2/token',
    'Psd2-V1-Oauth 1.0.0 POST /v1/oauth2/introspect',
    'Psd2-V1-Oauth 1.0.0 GET /psd2/oauth2/authorize',
    'Psd2-V1-Oauth 1.0.0 POST /psd2/oauth2/authorize',
    'Psd2-V1-Oauth 1.0.0 POST /oauth2/introspect',
  ])
  t.match(config.operations[2], { aliases: ['/oauth2'], credentials: 'query' })
  t.match(config.product, { name: 'oauth', title: 'OAuth', version: '1.0.0' })
  t.match(config.plans, { 'default-plan': { title: 'Default Plan', rate: { limit: 100, windowSec: 1 } } })
})

t.test('the demo user of sidegate.yaml signs in with wonderland and nothing else', async t => {
  const { users } = (await load('sidegate.yaml')).oauth
  const [alice] = users

  if (alice?.username !== 'alice') throw new Error('there is no alice')
  t.ok(await verifySecretHash(new Secret('wonderland'), alice.password_hash))
  t.notOk(await verifySecretHash(new Secret('Wonderland'), alice.password_hash))
})

t.test('redis.yaml takes its store from the environment', async t => {
  const loaded = await loadConfig(join(folder, 'redis.yaml'), { REDIS_URL: 'redis+sentinel://a:26379/main' })

  t.match(loaded, { ok: true, config: { store: { kind: 'redis', mode: 'sentinel' } } })
})
