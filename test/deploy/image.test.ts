/** No container engine is needed: what the Dockerfile does is done in folders, and bubblewrap runs what comes of it. */
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { stringify } from 'yaml'
import { findFreePort } from '../support/free-port.ts'
import { buildImage, lockedVersion, sizeOf } from './built-image.ts'
import { makeMountPoints, runContained, startContained } from './contained.ts'
import { readStages, toExecForm } from './dockerfile.ts'

const stages = readStages()
const final = stages.at(-1)
if (final === undefined) throw new Error('the Dockerfile has no stage')

const textOf = (name: string): string => final.instructions.findLast(found => found.name === name)?.text ?? ''

t.test(
  'every stage but the last, which stands on nothing, is of the Node that the lock file pins for development',
  async t => {
    for (const { image } of stages.slice(0, -1)) t.equal(image, `node:${lockedVersion('node')}-slim`)
  },
)

t.test('the image runs as a numbered user that is not root', async t => {
  t.match(textOf('USER'), /^[1-9]\d*:[1-9]\d*$/)
})

t.test('the final stage needs no shell', async t => {
  t.same(
    final.instructions.filter(instruction => instruction.name === 'RUN'),
    [],
  )
  t.equal(final.image, 'scratch')
  t.same(toExecForm(textOf('ENTRYPOINT')), ['node', '/app/dist/sidegate.cjs'])
  t.same(toExecForm(textOf('CMD')), ['serve', '--config', '/etc/sidegate/sidegate.yaml'])
  t.equal(toExecForm(textOf('HEALTHCHECK'))[0], 'node')
})

t.test('the data folder is the only volume', async t => {
  t.same(toExecForm(textOf('VOLUME')), ['/data'])
})

t.test('the image says what it is', async t => {
  for (const name of ['title', 'description', 'licenses', 'version', 'revision']) {
    t.match(textOf('LABEL'), new RegExp(`org\\.opencontainers\\.image\\.${name}=`))
  }
})

t.test('the data folder is the only one that the user of the image owns', async t => {
  const copies = final.instructions.filter(({ name }) => name === 'COPY').map(({ text }) => text)

  t.same(
    copies.filter(text => text.includes('--chown')),
    [`--from=root --chown=${textOf('USER')} /image/data /data`],
  )
})

const dir = t.testdir({ config: {}, data: {} })
const root = buildImage(stages, dir)
makeMountPoints(root)
const mounts = { config: join(dir, 'config'), data: join(dir, 'data') }
const environment = Object.fromEntries(
  [...textOf('ENV').matchAll(/(\w+)="?([^\s"]*)/g)].map(([, name = '', value = '']) => [name, value]),
)
const inImage = (script: string): string =>
  runContained(root, mounts, environment, ['node', '-p', script]).stdout.trim()

t.test('the image is smaller than 200 MB', async t => {
  t.ok(sizeOf(root) < 200e6, `${Math.round(sizeOf(root) / 1e6)} MB`)
})

t.test('the image has one program, and what it is linked with', async t => {
  t.same(readdirSync(root).sort(), ['app', 'data', 'dev', 'etc', 'lib', 'lib64', 'proc', 'usr'])
  t.same(readdirSync(join(root, 'usr/local/bin')), ['node'])
  t.notOk(existsSync(join(root, 'app/node_modules/typescript')), 'the tools are not there')
})

t.test('its user is not root, and has a name', async t => {
  t.equal(inImage('[process.getuid(), process.getgid(), os.userInfo().username].join()'), '65532,65532,sidegate')
})

t.test('nothing but the data folder can be written', async t => {
  const attempt = "path => { try { fs.writeFileSync(path, ''); return 'ok' } catch (error) { return error.code } }"

  t.equal(inImage(`['/app/x', '/etc/sidegate/x', '/data/x'].map(${attempt}).join()`), 'EROFS,EROFS,ok')
})

t.test('contained, as process 1 of its own, it serves, is healthy, and drains at SIGTERM', async t => {
  const adminPort = await findFreePort()
  writeFileSync(join(mounts.config, 'sidegate.yaml'), stringify(toConfig('sqlite:/data/sidegate.db', adminPort)))
  const checkHealth = toHealthCheck(adminPort)
  t.not(checkHealth(), 0, 'nothing is healthy before it runs')

  const command = [...toExecForm(textOf('ENTRYPOINT')), ...toExecForm(textOf('CMD'))]
  const { child, pid } = await startContained(root, mounts, environment, command)
  t.teardown(() => child.kill('SIGKILL'))

  while (child.exitCode === null && checkHealth() !== 0) await sleep(50)
  t.equal(child.exitCode, null)
  t.ok(existsSync(join(mounts.data, 'sidegate.db')))
  process.kill(pid, 'SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})

/** The HEALTHCHECK's own command, in the image, asked of this port. Returns its exit code. */
const toHealthCheck = (adminPort: number) => (): number | null => {
  const command = toExecForm(textOf('HEALTHCHECK').replace(':9090/', `:${adminPort}/`))
  return runContained(root, mounts, environment, command).status
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
