import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { lintConfig, warningRuleIds } from '../../../src/config/lint/lint.ts'
import { codeOf, readPage, root, rowsOf } from '../../docs/markdown.ts'
import { createCertificates } from '../../support/certificates.ts'
import { warningCases } from './cases.ts'
import { sound, soundClient, warningsOf, warnsOfEach } from './support.ts'

const cases = await warningCases(createCertificates(t))

t.test('every rule has a case', async t => {
  t.same(new Set(cases.map(({ rule }) => rule)), new Set(warningRuleIds))
})

t.test('the table beside the rules has each of them, in their order', async t => {
  const rows = rowsOf(readPage('src/config/lint/README.md'), 'Rule', 'Warns of', 'Better')

  t.same(
    rows.flatMap(([rule]) => codeOf(rule)),
    warningRuleIds,
  )
})

warnsOfEach(t, cases)

t.test('warnings come in the order of the file, each at its place', async t => {
  const text = `issuer: http://auth.example.com
store: 'memory:'
groupings: []
clients:
  - { client_id: shop, grant_types: [client_credentials], client_secret: short }
`

  t.match(await warningsOf(t, text, { graceMs: 31_000 }), [
    /^1:9: http-issuer/,
    /^2:8: memory-store/,
    /^5:74: plain-secret/,
    /^5:74: short-secret/,
  ])
})

t.test('a rule that is allowed gives no warning, and the other rules still do', async t => {
  const content = { ...sound, store: 'memory:', admin: '0.0.0.0:9090' }

  t.match(await warningsOf(t, content, { allowed: ['admin-open'] }), [/memory-store/])
})

t.test('no warning repeats a secret', async t => {
  const content = {
    ...sound,
    store: `\${REDIS:-redis://user:hunter2@redis.example/0?prefix=p:}`,
    clients: [{ ...soundClient, client_secret_hash: undefined, client_secret: 'hunter2' }],
  }

  t.notMatch((await warningsOf(t, content)).join('\n'), /hunter2/)
})

t.test('JSON is examined as YAML is', async t => {
  const content = { ...sound, clients: [{ ...soundClient, client_secret_hash: undefined, client_secret: 'hunter2' }] }

  t.match(await warningsOf(t, JSON.stringify(content)), [/plain-secret/, /short-secret/])
})

/** The warnings of the samples. These are for trials, or operators replace the names in them. */
const samples: Readonly<Record<string, readonly string[]>> = {
  'config/fapi2.yaml': ['wide-proxies'],
  'config/minimal.yaml': ['local-issuer', 'secret-default', 'known-secret'],
  'config/redis.yaml': ['admin-open', 'wide-proxies', 'closed-with-one-redis', 'secret-default', 'known-secret'],
  'config/sidegate.yaml': ['local-issuer', 'query-credentials', 'secret-default', 'known-secret'],
  'deploy/plugins/caddy/sidegate.yaml': ['secret-default', 'known-secret'],
  'deploy/plugins/envoy/sidegate.yaml': ['secret-default', 'known-secret'],
  'deploy/plugins/nginx/sidegate.yaml': ['secret-default', 'known-secret'],
  'deploy/plugins/traefik/sidegate.yaml': ['secret-default', 'known-secret'],
  'deploy/compose/sidegate/sidegate.yaml': ['local-issuer', 'admin-open', 'plain-redis', 'redis-without-password'],
  'deploy/kubernetes/base/sidegate.yaml': [
    'known-secret',
    'unnamed-proxy',
    'admin-open',
    'plain-redis',
    'redis-without-password',
    'query-credentials',
  ],
  'deploy/helm/sidegate/values.yaml': ['unnamed-proxy', 'admin-open'],
}

/**
 * The address of the store in the folder that a pod mounts. It is the placeholder of the kustomization, or comes from
 * the Secret of the operator that installs the chart.
 */
const mounted: Readonly<Record<string, string>> = {
  'deploy/kubernetes/base/sidegate.yaml': 'redis://redis:6379',
  'deploy/helm/sidegate/values.yaml': 'rediss+sentinel://:password@redis:26379/main',
}

const readSample = async (sample: string, path: string): Promise<string> => {
  if (path === '/etc/sidegate-store/url') return mounted[sample] ?? ''
  if (path === '/etc/sidegate-clients/demo') return 'replace-this-secret'
  const text = await readFile(path, 'utf8')
  // The values of the chart contain the configuration.
  return path.endsWith('values.yaml') ? stringify(parse(text).configuration) : text
}

for (const [sample, expected] of Object.entries(samples)) {
  t.test(`the linter warns of ${sample} as the page lists, and of nothing else`, async t => {
    const read = (path: string): Promise<string> => readSample(sample, path)
    const options = { nowMs: Date.now(), graceMs: 40_000, allowed: [], read }
    const isCompose = sample.includes('compose')
    const env = {
      DEMO_CLIENT_SECRET: isCompose ? 'q0vLZ2m1WcX8sTn4RkBy7PdE' : '',
      ACCOUNTS_URL: 'http://127.0.0.1:9000',
    }
    const examined = await lintConfig(join(root, sample), env, options)

    const rows = rowsOf(readPage('src/config/lint/README.md'), 'Sample', 'Is warned of', 'Why')
    t.same(codeOf(rows.find(([name]) => codeOf(name).includes(sample))?.[1]), expected)
    t.same(new Set(examined.ok ? examined.warnings.map(({ rule }) => rule) : []), new Set(expected))
  })
}
