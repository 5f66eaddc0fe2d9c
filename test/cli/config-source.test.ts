import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { createConfigSource } from '../../src/cli/config-source.ts'
import { client, makeFolder } from '../config/support.ts'

/** A source that has loaded a configuration with a secret in another file. */
const loadSource = async (t: { teardown(handler: () => unknown): unknown }) => {
  const folder = makeFolder(t)
  const file = join(folder, 'sidegate.yaml')
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'one\n')
  writeFileSync(file, stringify({ clients: [client({ client_secret: undefined, client_secret_file: 'secret' })] }))
  const source = createConfigSource(file)
  const loaded = await source.load()
  const hasChanged = async () => (await source.current()) !== source.loaded()
  return { folder, file, secret, source, loaded, hasChanged }
}

t.test('a configuration has not changed right after it was loaded', async t => {
  const { loaded, hasChanged } = await loadSource(t)

  t.equal(loaded.ok, true)
  t.equal(await hasChanged(), false)
})

t.test('a file that was only touched has not changed', async t => {
  const { file, hasChanged } = await loadSource(t)

  utimesSync(file, 1, 1)

  t.equal(await hasChanged(), false)
})

t.test('another content of the file, or of one that it names, is a change until it is loaded', async t => {
  const { file, secret, source, hasChanged } = await loadSource(t)

  writeFileSync(secret, 'two\n')
  t.equal(await hasChanged(), true)
  await source.load()
  t.equal(await hasChanged(), false)
  writeFileSync(file, 'no: configuration\n')
  t.equal(await hasChanged(), true)
  t.equal((await source.load()).ok, false)
  t.equal(await hasChanged(), false, 'invalid content is reported only once')
})

t.test('a link with a new target is a change', async t => {
  const { folder, secret, hasChanged } = await loadSource(t)

  writeFileSync(join(folder, 'next'), 'two\n')
  symlinkSync('next', join(folder, 'link'))
  renameSync(join(folder, 'link'), secret)

  t.equal(await hasChanged(), true)
})

t.test('a missing file is a change until it comes back with the same content', async t => {
  const { secret, hasChanged } = await loadSource(t)

  rmSync(secret)
  t.equal(await hasChanged(), true)
  writeFileSync(secret, 'one\n')
  t.equal(await hasChanged(), false)
})
