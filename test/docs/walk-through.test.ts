import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { findFreePort } from '../support/free-port.ts'
import { startSidegate } from '../support/sidegate.ts'
import { areAsShown, stepsOf } from './console.ts'
import { startDemoUpstream } from './demo-upstream.ts'
import { readPage, root, sectionOf } from './markdown.ts'

const readme = readPage('README.md')
const parts = ['## Try it', '### Scraping metrics', '### Load tests']

t.test('what the README shows of the demo gateway is what it answers', async t => {
  const config = parse(readFileSync(join(root, 'config/sidegate.yaml'), 'utf8'))
  const [listen, admin] = [`127.0.0.1:${await findFreePort()}`, `127.0.0.1:${await findFreePort()}`]
  const { store: _, ...published } = config
  await startSidegate(t, {
    ...published,
    issuer: `http://${listen}`,
    listen,
    admin,
    upstreams: { accounts: { targets: [await startDemoUpstream(t)] } },
  })
  const steps = parts.flatMap(part => stepsOf(sectionOf(readme, part)))

  t.ok(steps.length > 10, 'there are steps')
  await areAsShown(t, steps, { 'localhost:8080': listen, 'localhost:9090': admin })
})
