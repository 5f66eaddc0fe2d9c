import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { launcher } from '../cli/run.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { areAsShown, type Replacements, replaceAll, stepsOf } from './console.ts'
import { type Page, readPage } from './markdown.ts'

/** The page's ports, each replaced by one that is free here; the npm scripts by what they run. */
const replacementsHere = async (): Promise<Replacements> => {
  const sidegate = `'${process.execPath}' '${launcher}'`
  const entries = ['8080', '9090', '9000', '9001', '9002'].map(async port => [port, String(await findFreePort())])
  return {
    'npm start --': `${sidegate} start`,
    'npm run -s sidegate --': sidegate,
    'node -e': `'${process.execPath}' -e`,
    ...Object.fromEntries(await Promise.all(entries)),
  }
}

/** The block that ends in a running gateway. */
const startBlockOf = (use: Page): string => {
  const block = use.blocks.find(({ language, text }) => language === 'bash' && text.includes('npm start -- --config'))
  if (block === undefined) throw new Error('there is no block that starts a gateway')
  return block.text
}

for (const path of ['docs/guides/sidecar.md', 'docs/guides/gateway.md']) {
  t.test(`the commands of ${path} work as they stand, and the answers are as it shows`, async t => {
    const use = readPage(path)
    const replacements = await replacementsHere()
    const cwd = mkdtempSync(join(tmpdir(), 'sidegate-docs-'))
    // A process group of its own: the gateway and the services that the block leaves in the background end together.
    const shell = spawn('bash', ['-e', '-c', replaceAll(startBlockOf(use), replacements)], {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = text(shell.stdout)
    t.teardown(async () => {
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL')
      await ended
      rmSync(cwd, { recursive: true, force: true })
    })
    const readyUrl = replaceAll('http://127.0.0.1:9090/readyz', replacements)
    // Five programs start one after another; a busy machine takes its time.
    await eventually(async () => (await fetch(readyUrl)).ok, 60_000)

    await areAsShown(t, stepsOf(use), replacements)
  })
}

t.test('the configuration of the README is valid as it stands', async t => {
  const [{ text: yaml } = { text: '' }] = readPage('README.md').blocks.filter(({ language }) => language === 'yaml')
  const loaded = await loadConfig(join(t.testdir({ 'sidecar.yaml': yaml }), 'sidecar.yaml'), {})

  t.ok(loaded.ok, 'it is served', { loaded })
})
