import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { type Outcome, sidegate } from '../../cli/run.ts'

const client = { client_id: 'a', token_endpoint_auth_method: 'none' }

t.test('the configuration refuses unsafe redirect URIs (RFC 6749 section 3.1.2; checklist 43)', async t => {
  const folder = t.testdir()
  const check = (name: string, redirect_uris: readonly string[]): Promise<Outcome> => {
    const file = join(folder, `${name}.yaml`)
    const groupings = [{ name: 'OAuth', operations: [{ method: 'GET', path: '/authorize', serves: 'authorize' }] }]
    const plans = { free: { rate: '1/1second' } }
    writeFileSync(
      file,
      stringify({ issuer: 'https://a.example', plans, groupings, clients: [{ ...client, redirect_uris }] }),
    )
    return sidegate(['check', '--config', file])
  }
  const wrong = [
    'http://client.example/cb',
    'https://client.example/cb#fragment',
    'https://*.client.example/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'myapp:/cb',
  ]

  const refused = await check('wrong', wrong)
  t.equal(refused.code, 1)
  for (const index of wrong.keys())
    t.ok(`${refused.stderr}${refused.stdout}`.includes(`redirect_uris[${index}]`), wrong[index] ?? '')
  t.match(await check('right', ['http://127.0.0.1/cb', 'http://[::1]/cb', 'com.example.app:/cb']), { code: 0 })
})
