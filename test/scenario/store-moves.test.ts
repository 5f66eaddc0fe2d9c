/**
 * An embedded store is backed up while it serves, restored, and moved to a Redis. Issued tokens are valid or revoked
 * afterwards, as before.
 */
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Outcome, sidegate } from '../cli/run.ts'
import { type Fields, post } from '../oauth/support/post.ts'
import { startOAuth } from '../oauth/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { startRedis } from '../support/redis.ts'
import { newRedemption, refreshOf } from './support/redemption.ts'

const listen = `127.0.0.1:${await findFreePort()}`
const url = `http://${listen}`
const start = (changes = {}) => startOAuth(t, { issuer: url, listen, shutdown: { delay: '0s' }, ...changes })

const token = async (fields: Fields, as?: string) =>
  post(`${url}/token`, as ? fields : { ...fields, client_id: 'spa' }, as)
const isActive = async (text: unknown): Promise<unknown> =>
  (await post(`${url}/introspect`, { token: String(text) }, 'server')).body.active
const keySet = async (): Promise<unknown> => (await fetch(`${url}/.well-known/jwks.json`)).json()

const fails = (outcome: Outcome, stderr: RegExp): void => void t.match(outcome, { code: 1, stdout: '', stderr })

const redis = await startRedis(t)
const embedded = await start()
const { dir } = embedded
const config = join(dir, 'sidegate.yaml')
const file = join(dir, 'sidegate.db')
const backup = join(dir, 'backup.db')
const store = (command: string, ...args: readonly string[]) => sidegate(['store', command, ...args])

// The clients have a machine's token, a revoked one, a refresh token that has rotated, and one of a user with a
// cut-off.
const machine = (await token({ grant_type: 'client_credentials' }, 'app')).body
const revoked = (await token({ grant_type: 'client_credentials' }, 'app')).body
await post(`${url}/revoke`, { token: String(revoked.access_token) }, 'app')
const first = (await token(await newRedemption(url, 'spa'))).body
const second = (await token(refreshOf(first.refresh_token))).body
const cutOff = (await token(await newRedemption(url, 'server'), 'server')).body
await sidegate(['tokens', 'revoke', '--config', config, '--client', 'server'])
const waiting = await newRedemption(url, 'app')
const keys = await keySet()

t.test('a backup is made while the gateway serves: one file, for its owner alone, and never over another', async t => {
  const made = await store('backup', '--config', config, '--to', backup)

  t.match(made, { code: 0, stdout: /^backed up to .*backup\.db, which contains the signing keys/ }, made.stderr)
  t.equal(statSync(backup).mode & 0o777, 0o600)
  t.same(
    readdirSync(dir).filter(name => name.startsWith('backup')),
    ['backup.db'],
  )
  fails(await store('backup', '--config', config, '--to', backup), /there is a file at .*backup\.db already/)
})

t.test('a store in use is neither replaced nor moved, and what is no store not restored', async t => {
  writeFileSync(join(dir, 'text.db'), 'x'.repeat(10_000))

  fails(await store('restore', '--config', config, '--from', backup), /sidegate\.db is in use: stop the gateway first/)
  fails(await store('copy', '--from', `sqlite:${file}`, '--to', redis.url), /is in use/)
  fails(await store('restore', '--config', config, '--from', join(dir, 'text.db')), /is not a Sidegate store/)
  fails(await store('restore', '--config', config, '--from', join(dir, 'none.db')), /there is no file at/)
  t.equal(await isActive(machine.access_token), true)
})

t.test('a gateway whose file is another one, or gone, is not ready until it is there again', async t => {
  const isReady = async () => (await fetch(`${embedded.admin}/readyz`)).ok
  renameSync(file, `${file}.away`)

  await eventually(async () => !(await isReady()))
  t.match(await (await fetch(`${embedded.admin}/readyz?verbose`)).text(), /^store: sqlite, replaced$/m)
  await eventually(() => embedded.output.some(line => line.includes('"event":"store_replaced"')))
  renameSync(`${file}.away`, file)
  await eventually(isReady)
})

t.test('invalid arguments are reported', async t => {
  t.match(await store('backup', '--config', config), { code: 2, stderr: /--to BACKUP/ })
  const twice = await store('copy', '--from', `sqlite:${file}`, '--to', redis.url, '--config', config)
  t.match(twice, { code: 2, stderr: /with --to or with --config, not with both/ })
  t.match(await store('copy', '--from', 'file:x'), { code: 2, stderr: /--from: a store is one of/ })
  fails(await store('copy', '--from', `sqlite:${join(dir, 'none.db')}`, '--to', redis.url), /there is no file at/)
  t.notOk(existsSync(join(dir, 'none.db')))
  fails(await store('copy', '--from', redis.url, '--to', redis.url), /what is copied is an embedded store/)
  fails(await store('copy', '--from', `sqlite:${file}`, '--to', 'sqlite:y'), /store backup and store restore/)
})

t.test('a stopped gateway whose store is broken is given its backup back, and what was there is kept', async t => {
  embedded.kill('SIGTERM')
  await embedded.exited
  writeFileSync(file, 'broken')
  writeFileSync(`${file}-wal`, 'and its log')

  const restored = await store('restore', '--config', config, '--from', backup)

  t.match(restored, { code: 0, stdout: /tokens that were revoked after the backup are valid again/ }, restored.stderr)
  t.equal(readFileSync(`${file}.replaced`, 'utf8'), 'broken')
  t.same(
    readdirSync(dir).filter(name => /sidegate\.db-|part/.test(name)),
    [],
  )
  t.equal(statSync(file).mode & 0o777, 0o600)
})

t.test('it is moved to a Redis, which may not have keys of its own', async t => {
  await redis.client.hset('other:keys', 'k', JSON.stringify({ kid: 'k', alg: 'ES256', createdAtMs: 1, jwk: {} }))
  await redis.client.pexpire('other:keys', 60_000)

  fails(await store('copy', '--from', `sqlite:${file}`, '--to', `${redis.url}?prefix=other:`), /has keys of its own/)
  const copied = await store('copy', '--from', `sqlite:${file}`, '--to', redis.url, '--json')

  t.equal(copied.code, 0, copied.stderr)
  t.match(JSON.parse(copied.stdout), { grants: 3, revocations: 1, cutoffs: 1, signing_keys: 2 })
  for (const key of await redis.client.keys('sidegate:*'))
    t.ok((await redis.client.pttl(key)) > 0, `a lifetime for ${key}`)
})

t.test('a Redis that has been moved to is not moved to again', async t => {
  const again = await store('copy', '--from', `sqlite:${file}`, '--to', redis.url)

  t.match(again, { code: 1, stdout: '', stderr: /the Redis has keys of its own, as after a copy/ })
})

t.test('after the move all is good that was, and nothing else', async t => {
  await start({ store: redis.url })

  t.same(await keySet(), keys)
  t.equal(await isActive(machine.access_token), true)
  t.equal(await isActive(revoked.access_token), false)
  t.equal(await isActive(cutOff.access_token), false)
  t.match(await token(refreshOf(cutOff.refresh_token), 'server'), { status: 400, body: { error: 'invalid_grant' } })
  t.match(await token(waiting, 'app'), { status: 200 })
  const third = await token(refreshOf(second.refresh_token))
  t.match(third, { status: 200 })
  t.match(await token(refreshOf(third.body.refresh_token)), { status: 200 })
})
