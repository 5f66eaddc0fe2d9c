import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/clock.ts'
import { openStore } from '../../src/stores/open.ts'
import { client, makeFolder, publishing, token, writeConfig } from '../config/support.ts'
import { sidegate } from './run.ts'

const folder = makeFolder(t)
const config = (changes: object = {}) =>
  writeConfig(t, {
    store: `sqlite:${join(folder, 'keys.db')}`,
    clients: [client({ access_token_signed_response_alg: 'EdDSA' })],
    ...publishing(token),
    ...changes,
  })

interface Listed {
  readonly kid: string
  readonly alg: string
  readonly state: string
  readonly created: string
  readonly activeFrom: string
  readonly publishedUntil?: string
}

const listKeys = async (file: string): Promise<readonly Listed[]> =>
  JSON.parse((await sidegate(['keys', 'list', '--config', file, '--json'])).stdout).keys

t.test('keys rotate creates the first key and its successors, and keys list shows them', async t => {
  const file = config()
  await (await openStore({ kind: 'sqlite', path: join(folder, 'keys.db') }, systemClock)).close()

  const first = await sidegate(['keys', 'rotate', '--config', file])
  t.equal(first.code, 0, first.stderr)
  t.match(first.stdout, /^ES256: \S{43} is new and signs from \S+Z on\nEdDSA: \S{43} is new and signs from \S+Z on\n$/)
  t.match(await listKeys(file), [
    { alg: /ES256|EdDSA/, state: 'signing', publishedUntil: undefined },
    { alg: /ES256|EdDSA/, state: 'signing', publishedUntil: undefined },
  ])

  t.match(await sidegate(['keys', 'rotate', '--config', file, '--alg', 'ES256']), { code: 0, stdout: /^ES256: .+ new/ })
  const again = await sidegate(['keys', 'rotate', '--config', file, '--alg', 'ES256'])
  t.match(again, { code: 0, stdout: /^ES256: \S{43} was made before and signs from \S+ on\n$/ })
  const keys = await listKeys(file)
  t.equal(keys.length, 3)
  const next = keys.find(({ state }) => state === 'next')
  const waitMs = Date.parse(next?.activeFrom ?? '') - Date.parse(next?.created ?? '')
  t.equal(waitMs, 315_000, 'the cache time of the key set, and the time until every process has read it')
  const old = keys.find(({ alg, state }) => alg === 'ES256' && state === 'signing')
  const leftMs = Date.parse(old?.publishedUntil ?? '') - Date.parse(next?.activeFrom ?? '')
  t.equal(leftMs, 660_000, 'the lifetime of its last token, and a minute for clock skew')

  const urgent = await sidegate(['keys', 'rotate', '--config', file, '--alg', 'ES256', '--now', '--json'])
  const soonest = (await listKeys(file)).find(({ state }) => state === 'next')
  const { kid, alg, activeFrom } = soonest ?? {}
  t.same(JSON.parse(urgent.stdout), { keys: [{ kid, alg, activeFrom, isNew: true }] })
  t.equal(Date.parse(soonest?.activeFrom ?? '') - Date.parse(soonest?.created ?? ''), 15_000)

  const { stdout } = await sidegate(['keys', 'list', '--config', file])
  const [headings = '', ...rows] = stdout.trimEnd().split('\n')
  t.same(headings.split(/ {2,}/), ['KID', 'ALG', 'STATE', 'CREATED', 'ACTIVE FROM', 'PUBLISHED UNTIL'])
  t.equal(rows.length, 4)
})

t.test('no command for keys creates a store', async t => {
  const absent = join(folder, 'absent.db')
  const file = config({ store: `sqlite:${absent}` })

  for (const command of ['list', 'rotate']) {
    const { code, stdout, stderr } = await sidegate(['keys', command, '--config', file])
    t.match({ code, stdout }, { code: 1, stdout: '' })
    t.equal(stderr, `sidegate: there is no store at ${absent}; the gateway creates it when it starts\n`)
  }
  t.notOk(existsSync(absent))
})

t.test('keys of a file are listed, and rotate does not change them', async t => {
  const jwk = (kid: string) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return { ...privateKey.export({ format: 'jwk' }), kid, alg: 'ES256' }
  }
  const jwks = JSON.stringify({ keys: [jwk('today'), jwk('tomorrow')] })
  const file = config({ keys: { jwks }, clients: [client()] })

  t.match(await listKeys(file), [
    { kid: 'today', state: 'signing' },
    { kid: 'tomorrow', state: 'verifying' },
  ])
  t.match(await sidegate(['keys', 'rotate', '--config', file]), {
    code: 1,
    stdout: '',
    stderr: /keys come from keys\.jwks/,
  })
})

t.test('a key command that fails prints one line', async t => {
  const file = config()
  const rotate = (...args: readonly string[]) => sidegate(['keys', 'rotate', '--config', file, ...args])
  const list = (store: object) => sidegate(['keys', 'list', '--config', config(store)])

  const [unknown, unused, inMemory, away] = await Promise.all([
    rotate('--alg', 'HS256'),
    rotate('--alg', 'PS256'),
    list({ store: 'memory:', workers: 1 }),
    list({ store: 'redis://127.0.0.1:1' }),
  ])

  t.match(unknown, { code: 2, stderr: /--alg takes one of ES256, PS256, EdDSA, RS256/ })
  t.match(unused, { code: 1, stderr: /does not use algorithm PS256/ })
  t.match(inMemory, { code: 1, stdout: '', stderr: /only in the gateway's own process/ })
  t.match(away, {
    code: 1,
    stdout: '',
    stderr: /^sidegate: the redis store is unavailable: .*ECONNREFUSED 127\.0\.0\.1:1\n$/,
  })
})
