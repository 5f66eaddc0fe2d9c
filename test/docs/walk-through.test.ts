import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { findFreePort } from '../support/free-port.ts'
import { startSidegate } from '../support/sidegate.ts'
import { areAsShown, stepsOf } from './console.ts'
import { startDemoUpstream } from './demo-upstream.ts'
import { readPage, root } from './markdown.ts'

/** In this order: a page may use the shell variables of the page before. */
const pages = ['docs/getting-started.md', 'docs/guides/monitoring.md', 'docs/guides/load-testing.md']

t.test('the demo gateway answers as the pages show', async t => {
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
  const steps = pages.flatMap(path => stepsOf(readPage(path)))

  t.ok(steps.length > 10, 'there are steps')
  const here = { 'localhost:8080': listen, 'localhost:9090': admin }
  await areAsShown(t, stepsOf(readPage('README.md')), here)
  // The README uses the plan up; a second later it has room again.
  await areAsShown(t, steps, here, { prelude: 'sleep 1' })
})
