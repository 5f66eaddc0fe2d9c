import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { privateJwk } from '../../config/keys.ts'
import { createCertificates } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import type { RunningSidegate } from '../../support/sidegate.ts'
import { scrape, sumOf } from '../../telemetry/support/exposition.ts'
import { changedConfig, configFileOf, reload } from '../support/config-file.ts'
import { countServing, logEntries, openPath, startGateway, workerPid } from '../support/gateway.ts'
import { startLoad } from '../support/load.ts'
import { publishing, startSlowUpstream } from '../support/slow-upstream.ts'

const token = { method: 'POST', path: '/token', serves: 'token', plan: 'none' }
const jwks = (path: string) => ({ method: 'GET', path, serves: 'jwks', plan: 'none' })
const grouping = (...operations: readonly unknown[]) => ({ groupings: [{ name: 'Open', operations }] })
const client = (client_id: string, secret: Readonly<Record<string, string>>) => ({
  client_id,
  ...secret,
  grant_types: ['client_credentials'],
})

/** Sends requests until two workers have each answered on separate connections; resolves to the statuses. */
const askEveryWorker = async (
  sidegate: RunningSidegate,
  path: string,
  init: RequestInit = {},
): Promise<Set<number>> => {
  const statuses = new Set<number>()
  const ids = new Set<string>()
  const workers = (): number => {
    const answered = logEntries(sidegate, 'request').filter(({ request_id }) => ids.has(request_id ?? ''))
    return new Set(answered.map(({ worker_pid }) => worker_pid)).size
  }
  await eventually(async () => {
    const answer = await fetch(sidegate.url + path, { ...init, headers: { ...init.headers, connection: 'close' } })
    statuses.add(answer.status)
    ids.add(answer.headers.get('x-request-id') ?? '')
    return workers() === 2
  })
  return statuses
}

const askToken = (id: string, secret: string): RequestInit => ({
  method: 'POST',
  headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
  body: new URLSearchParams({ grant_type: 'client_credentials' }),
})

const reloadMetrics = async (sidegate: RunningSidegate) => {
  const metrics = await scrape(sidegate.admin)
  return {
    successful: sumOf(metrics, 'sidegate_config_last_reload_successful'),
    succeededAt: sumOf(metrics, 'sidegate_config_last_reload_success_timestamp_seconds'),
  }
}

/** The line of `/readyz?verbose` about the configuration. */
const readiness = async (sidegate: RunningSidegate) => {
  const answer = await fetch(`${sidegate.admin}/readyz?verbose`)
  return { status: answer.status, configuration: /^configuration: (.*)$/m.exec(await answer.text())?.[1] }
}

t.test('one gateway, changed again and again', async t => {
  const first = { ...grouping(jwks(openPath), token), clients: [client('shop', { client_secret: 'one' })] }
  const login = { failures: '10000/1minute' }
  const sidegate = await startGateway(t, { workers: 2, login, ...first })

  t.test('SIGHUP: every worker serves the operations and clients of the new configuration', async t => {
    t.same(await askEveryWorker(sidegate, '/token', askToken('shop', 'one')), new Set([200]))

    await reload(sidegate, {
      ...grouping(jwks('/keys'), token),
      clients: [client('shop', { client_secret: 'two' }), client('desk', { client_secret: 'desk' })],
    })

    t.same(await askEveryWorker(sidegate, '/token', askToken('shop', 'two')), new Set([200]))
    t.same(await askEveryWorker(sidegate, '/token', askToken('shop', 'one')), new Set([401]))
    t.same(await askEveryWorker(sidegate, '/token', askToken('desk', 'desk')), new Set([200]))
    t.same(await askEveryWorker(sidegate, '/keys'), new Set([200]))
    t.same(await askEveryWorker(sidegate, openPath), new Set([404]))
    t.match(logEntries(sidegate, 'config_reloaded'), [{ cause: 'signal' }])
    t.equal((await reloadMetrics(sidegate)).successful, 1)
  })

  t.test('a file that cannot be served changes nothing but the metric, and every problem is logged', async t => {
    const before = await reloadMetrics(sidegate)

    await reload(sidegate, { groupings: [], clients: [{ client_id: 'shop', client_secret: 'hidden-one' }], unknown: 1 })

    const [refused] = logEntries(sidegate, 'config_refused').slice(-1)
    t.equal(refused?.cause, 'signal')
    t.ok(refused?.problems?.some(problem => /sidegate\.yaml:\d+:\d+: unknown: unknown key/.test(problem)))
    t.notMatch(sidegate.output.join('\n'), 'hidden-one')
    t.same(await askEveryWorker(sidegate, '/token', askToken('shop', 'two')), new Set([200]))
    t.same(await reloadMetrics(sidegate), { ...before, successful: 0 })
    const { status, configuration } = await readiness(sidegate)
    t.equal(status, 200)
    t.match(configuration, /^refused at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ; the one before it is served$/)
  })

  t.test(
    'a worker that dies while the file is invalid is replaced by one with the configuration of the others',
    async t => {
      process.kill(workerPid(sidegate), 'SIGKILL')
      await eventually(() => logEntries(sidegate, 'worker_ready').length === 3)

      t.same(await askEveryWorker(sidegate, '/token', askToken('shop', 'two')), new Set([200]))
    },
  )

  t.test('a change that needs a restart is refused, and the message names the setting', async t => {
    const good = { ...grouping(jwks(openPath), token), clients: [], unknown: undefined }

    await reload(sidegate, { ...good, workers: 3, listen: '127.0.0.1:1' })

    const [refused] = logEntries(sidegate, 'config_refused').slice(-1)
    t.same(refused?.problems, ['listen, workers cannot change while Sidegate runs: restart it, or change them back'])
    t.same(await askEveryWorker(sidegate, '/keys'), new Set([200]))
  })

  t.test('a file that is valid again is served without a signal', async t => {
    const before = await reloadMetrics(sidegate)

    await reload(sidegate, { ...first, workers: 2, listen: '127.0.0.1:0' }, () => undefined)

    t.same(logEntries(sidegate, 'config_reloaded').at(-1)?.cause, 'file')
    t.same(await askEveryWorker(sidegate, openPath), new Set([200]))
    const after = await reloadMetrics(sidegate)
    t.equal(after.successful, 1)
    t.same(await readiness(sidegate), { status: 200, configuration: 'ok' })
    t.ok(after.succeededAt > before.succeededAt)
  })

  t.test('the metrics show when served certificates and keys are due, and removed ones disappear', async t => {
    const { ca } = createCertificates(t)
    const forward = { method: 'GET', path: '/there', upstream: 'there', credentials: 'none' }
    const upstreams = { there: { targets: ['https://127.0.0.1:1'], tls: { ca_file: ca.certFile } } }
    const dueSeries = async () =>
      (await scrape(sidegate.admin)).samples
        .filter(({ name }) => /_(expiry|due)_timestamp_seconds$/.test(name))
        .map(({ labels, value }) => ({ ...labels, value }))
    const [ownKeys] = await dueSeries()
    t.match(ownKeys, { alg: 'ES256' })
    const inDays = ((ownKeys?.value ?? 0) * 1000 - Date.now()) / 86_400_000
    t.ok(inDays > 29 && inDays <= 30, 'thirty days, less the time to publish a successor')

    await reload(sidegate, {
      ...grouping(jwks(openPath), token, forward),
      upstreams,
      tokens: { accessToken: { alg: 'EdDSA' } },
    })

    const expiry = Math.floor(new X509Certificate(ca.cert).validToDate.getTime() / 1000)
    const certificate = { use: 'upstream_ca', upstream: 'there', value: expiry }
    await eventually(async () => (await dueSeries()).length === 2)
    t.match(await dueSeries(), [{ alg: 'EdDSA' }, certificate])

    await reload(sidegate, { ...first, upstreams: undefined, tokens: undefined })

    await eventually(async () => (await dueSeries()).length === 1)
    t.same(await dueSeries(), [ownKeys])
  })

  t.test('keys of a file are rotated without a restart', async t => {
    const own = (...kids: readonly string[]) => ({
      keys: { jwks: { keys: kids.map(kid => ({ ...privateJwk('ES256'), kid })) } },
    })
    const published = async () => {
      const { keys } = (await (await fetch(sidegate.url + openPath)).json()) as { keys: { kid: string }[] }
      return keys.map(({ kid }) => kid).sort()
    }
    const signing = async () => {
      const answer = await fetch(`${sidegate.url}/token`, askToken('shop', 'one'))
      const { access_token } = (await answer.json()) as { access_token: string }
      return JSON.parse(Buffer.from(access_token.split('.')[0] ?? '', 'base64url').toString()).kid
    }
    await reload(sidegate, { ...first, ...own('old', 'new') })
    t.same([await published(), await signing()], [['new', 'old'], 'old'])

    await reload(sidegate, { ...first, ...own('new', 'old') })
    t.same([await published(), await signing()], [['new', 'old'], 'new'])

    await reload(sidegate, { ...first, ...own('new') })
    t.same([await published(), await signing()], [['new'], 'new'])

    await reload(sidegate, { ...first, keys: undefined })
    t.equal((await published()).includes('new'), false, 'the keys of the store sign again')
  })

  t.test('a mounted ConfigMap is served after its symlink is swapped, with the secrets in its files', async t => {
    const version = (name: string, secret: string, path: string): void => {
      mkdirSync(join(sidegate.dir, name))
      const clients = [client('shop', { client_secret_file: join(sidegate.dir, 'secret') })]
      writeFileSync(
        join(sidegate.dir, name, 'sidegate.yaml'),
        changedConfig(sidegate, { ...grouping(jwks(path), token), clients }),
      )
      writeFileSync(join(sidegate.dir, name, 'secret'), secret)
    }
    const point = (name: string): void => {
      symlinkSync(name, join(sidegate.dir, '..data_tmp'))
      renameSync(join(sidegate.dir, '..data_tmp'), join(sidegate.dir, '..data'))
    }
    const takes = async (secret: string): Promise<boolean> =>
      (await fetch(`${sidegate.url}/token`, askToken('shop', secret))).status === 200
    version('..1', 'three', openPath)
    version('..2', 'four', openPath)
    point('..1')
    symlinkSync('..data/secret', join(sidegate.dir, 'secret'))
    symlinkSync('..data/sidegate.yaml', join(sidegate.dir, 'link'))
    renameSync(join(sidegate.dir, 'link'), configFileOf(sidegate))
    await eventually(() => takes('three'))

    point('..2')
    await eventually(() => takes('four'))

    t.same(await askEveryWorker(sidegate, '/token', askToken('shop', 'four')), new Set([200]))
    t.same(await askEveryWorker(sidegate, '/token', askToken('shop', 'three')), new Set([401]))
  })
})

t.test('under load not one request fails while the configuration changes', async t => {
  const sidegate = await startGateway(t, { workers: 2 })
  const load = startLoad({ url: sidegate.url + openPath, keeping: 8, opening: 4, pauseMs: 5 })
  await eventually(() => load.answers.length > 100)

  for (let turn = 0; turn < 10; turn++) {
    await reload(sidegate, grouping(jwks(openPath), jwks(`/keys/${turn}`)))
    const answered = load.answers.length
    await eventually(() => load.answers.length > answered + 50)
  }
  await load.stop()

  t.same(load.failures, [])
  t.ok(load.answers.every(({ status }) => status === 200))
  t.equal(logEntries(sidegate, 'config_reloaded').length, 10)
  t.equal(logEntries(sidegate, 'worker_ready').length, 2, 'no worker process was replaced')
  t.equal(await countServing(sidegate), 2)
})

t.test('a request in flight is finished with the old configuration, even if its operation was removed', async t => {
  const upstream = await startSlowUpstream(t)
  const sidegate = await startGateway(t, { ...publishing(upstream), workers: 1 })
  const asked = fetch(`${sidegate.url}/slow`)
  await eventually(() => upstream.waiting() === 1)

  await reload(sidegate, { ...grouping(jwks(openPath)), upstreams: {} })
  t.equal((await fetch(`${sidegate.url}/slow`)).status, 404)
  upstream.answerAll('as it began')

  const answer = await asked
  t.equal(answer.status, 200)
  t.equal(await answer.text(), 'as it began')
  t.equal(readFileSync(configFileOf(sidegate), 'utf8').includes('/slow'), false)
})

t.test('an upstream whose configuration does not change keeps its state', async t => {
  const upstream = await startSlowUpstream(t)
  const service = { targets: [upstream.url], maxInFlight: 1, maxQueue: 0 }
  const sidegate = await startGateway(t, { ...publishing(upstream), upstreams: { slow: service }, workers: 1 })
  const ask = () => fetch(`${sidegate.url}/slow`)
  const asked = ask()
  await eventually(() => upstream.waiting() === 1)

  await reload(sidegate, { groupings: [...publishing(upstream).groupings, ...grouping(jwks(openPath)).groupings] })
  t.equal((await ask()).status, 503, 'the earlier request still uses its only slot')
  upstream.answerAll()
  t.equal((await asked).status, 200)
  const later = ask()
  await eventually(() => upstream.waiting() === 1)
  await reload(sidegate, { upstreams: { slow: { ...service, connectTimeout: '4s' } } })
  const latest = ask()
  await eventually(() => upstream.waiting() === 2)
  upstream.answerAll()

  t.same(
    [(await later).status, (await latest).status],
    [200, 200],
    'an upstream whose configuration has changed starts with new state',
  )
})
