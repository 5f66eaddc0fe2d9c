/** No container engine is needed: what the Dockerfile does is done in folders, with its own commands. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { stringify } from 'yaml'
import { findFreePort } from '../support/free-port.ts'
import { layOutApp, lockedVersion, runBuildStage } from './built-image.ts'
import { readStages, toExecForm } from './dockerfile.ts'

const stages = readStages()
const build = stages.find(stage => stage.name === 'build')
const final = stages.at(-1)
if (build === undefined || final === undefined) throw new Error('the Dockerfile has no build stage')

const textOf = (name: string): string => final.instructions.findLast(found => found.name === name)?.text ?? ''

t.test('every stage stands on the Node that the lock file pins for development', async t => {
  for (const { image } of stages) t.equal(image, `node:${lockedVersion('node')}-slim`)
})

t.test('the image runs as a numbered user that is not root', async t => {
  t.match(textOf('USER'), /^[1-9]\d*:[1-9]\d*$/)
})

t.test('the final stage needs no shell', async t => {
  t.same(
    final.instructions.filter(instruction => instruction.name === 'RUN'),
    [],
  )
  t.same(toExecForm(textOf('ENTRYPOINT')), ['node', '/app/dist/sidegate.cjs'])
  t.same(toExecForm(textOf('CMD')), ['serve', '--config', '/etc/sidegate/sidegate.yaml'])
  t.equal(toExecForm(textOf('HEALTHCHECK'))[0], 'node')
})

t.test('the data folder is the only volume', async t => {
  t.same(toExecForm(textOf('VOLUME')), ['/data'])
})

t.test('the image says what it is', async t => {
  for (const name of ['title', 'description', 'licenses', 'version', 'revision']) {
    t.match(textOf('LABEL'), `org.opencontainers.image.${name}=`)
  }
})

t.test('compiled, and with the production packages alone, it serves and is healthy', async t => {
  const dir = t.testdir()
  const app = layOutApp(runBuildStage(build, dir), dir)
  const adminPort = await findFreePort()
  const config = join(dir, 'sidegate.yaml')
  writeFileSync(config, stringify(toConfig(`sqlite:${dir}/sidegate.db`, adminPort)))
  const checkHealth = toHealthCheck(adminPort)
  t.notOk(existsSync(join(app, 'node_modules/typescript')), 'the tools are not there')
  t.not(checkHealth(), 0, 'nothing is healthy before it runs')

  const child = spawn(process.execPath, [join(app, 'dist/sidegate.cjs'), 'serve', '--config', config], {
    stdio: 'ignore',
    env: { ...process.env, NODE_ENV: 'production' },
  })
  t.teardown(() => child.kill('SIGKILL'))

  while (child.exitCode === null && checkHealth() !== 0) await sleep(50)
  t.equal(child.exitCode, null)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

/** The HEALTHCHECK's own command, asked of this port. Returns its exit code. */
const toHealthCheck = (adminPort: number) => (): number | null => {
  const [, ...args] = toExecForm(textOf('HEALTHCHECK').replace(':9090/', `:${adminPort}/`))
  return spawnSync(process.execPath, args, { stdio: 'ignore' }).status
}

const toConfig = (store: string, adminPort: number): object => ({
  issuer: 'http://localhost:8080',
  listen: '127.0.0.1:0',
  admin: `127.0.0.1:${adminPort}`,
  workers: 1,
  store,
  product: { name: 'image', title: 'Image', version: '1.0.0' },
  plans: { 'default-plan': { title: 'Default Plan', rate: '100/1second' } },
  groupings: [{ name: 'OAuth', version: '1.0.0', operations: [{ method: 'POST', path: '/token', serves: 'token' }] }],
  clients: [
    {
      client_id: 'demo',
      client_secret: 'a-secret',
      client_name: 'Demo',
      grant_types: ['client_credentials'],
      scope: 'a',
    },
  ],
  shutdown: { delay: '0s', timeout: '5s' },
})
