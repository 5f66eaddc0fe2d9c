/** The package as npm would publish it: packed, installed in an empty folder, and run from there. */
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { scriptProgram } from '../cli/top/terminal.ts'
import { buildPackage, runNpm } from '../support/built-package.ts'
import { linesToPaste, startDemo } from '../support/started-demo.ts'

const dir = t.testdir({ source: {}, packed: {}, installed: { 'package.json': '{ "private": true }' } })
const [source, packed, installed] = [join(dir, 'source'), join(dir, 'packed'), join(dir, 'installed')]
buildPackage(source)
runNpm(source, ['pack', '--ignore-scripts', '--pack-destination', packed])
const [tarball = ''] = readdirSync(packed)
// Its dependencies were installed from the same lock file a moment ago, so npm has them in its cache.
runNpm(installed, ['install', '--no-audit', '--no-fund', '--prefer-offline', join(packed, tarball)])

const home = join(installed, 'node_modules/sidegate')

/** The command that `npx sidegate` runs. */
const command = join(installed, 'node_modules/.bin/sidegate')

t.test('the package holds JavaScript with its maps, and no TypeScript', async t => {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' })

  for (const file of ['dist/sidegate.cjs', 'dist/main.js', 'dist/main.js.map', 'dist/demo/upstream.js']) {
    t.ok(files.includes(file), file)
  }
  t.same(
    files.filter(file => file.endsWith('.ts')),
    [],
    'Node strips no types below node_modules',
  )
})

t.test('an installed program says its version', async t => {
  const { status, stdout, stderr } = spawnSync(command, ['version'], { encoding: 'utf8' })
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { readonly version: string }

  t.same(
    { status, stdout, stderr },
    { status: 0, stdout: `sidegate ${version}, node ${process.versions.node}\n`, stderr: '' },
  )
})

t.test('an installed program writes lines for a person on a terminal', async t => {
  const { greeting } = await startDemo(t, [scriptProgram, '-qec', `${command} start`, '/dev/null'], [])
  t.match(greeting, /gateway {3}http:/)
})

t.test('an installed program serves the demo with the service behind it, and drains at SIGTERM', async t => {
  const { child, greeting } = await startDemo(t, [command])
  const [getToken = '', callApi = ''] = linesToPaste(greeting)

  const { stdout } = await promisify(execFile)('bash', ['-c', `${getToken}\n${callApi}`])
  t.match(stdout, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(stdout, /"accounts": \[/)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})
