import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { countLines, type Outcome, sidegate } from '../cli/run.ts'
import { openPath, startGateway } from '../cluster/support/gateway.ts'
import { makeFolder, writeConfig } from '../config/support.ts'

const serve = (t: Test, changes: Readonly<Record<string, unknown>>): Promise<Outcome> =>
  sidegate([
    'serve',
    '--config',
    writeConfig(t, {
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      workers: 2,
      store: `sqlite:${makeFolder(t)}/sidegate.db`,
      groupings: [{ name: 'Open', operations: [{ method: 'GET', path: openPath, serves: 'jwks', plan: 'none' }] }],
      ...changes,
    }),
  ])

const saysInOneLine = (t: Test, { code, stderr }: Outcome, line: RegExp): void => {
  t.equal(code, 1)
  t.match(stderr, line)
  t.equal(countLines(stderr), 1)
}

/** A program that has the port already; resolves to `host:port`. */
const takePort = async (t: Test): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a traffic port of another program is reported in one line', async t => {
  const taken = await takePort(t)

  const outcome = await serve(t, { listen: taken })

  saysInOneLine(
    t,
    outcome,
    new RegExp(`^sidegate: cannot listen on ${taken}: the port is taken .*; change listen in the configuration\n$`),
  )
})

t.test('an admin port of another program is reported in one line', async t => {
  const taken = await takePort(t)

  const outcome = await serve(t, { admin: taken })

  saysInOneLine(
    t,
    outcome,
    new RegExp(
      `^sidegate: cannot listen on ${taken} \\(admin\\): the port is taken .*; change admin in the configuration\n$`,
    ),
  )
})

t.test(
  'a second Sidegate on the same port reports it and ends, instead of getting half of the connections',
  async t => {
    const first = await startGateway(t, { workers: 2 })

    const outcome = await serve(t, { listen: new URL(first.url).host })

    saysInOneLine(
      t,
      outcome,
      /^sidegate: cannot listen on .*: the port is taken by another program; change listen in the configuration\n$/,
    )
    t.equal((await fetch(first.url + openPath)).status, 200)
  },
)

t.test('an address that this machine does not have is reported in one line', async t => {
  saysInOneLine(
    t,
    await serve(t, { listen: '192.0.2.1:0' }),
    /cannot listen on 192\.0\.2\.1:0: the address is not one of/,
  )
})

t.test('an unknown host name is reported in one line', async t => {
  saysInOneLine(
    t,
    await serve(t, { listen: 'nobody.invalid:0' }),
    /cannot listen on nobody\.invalid:0: the name is not/,
  )
})

t.test('a store folder that cannot be created is reported in one line', async t => {
  const file = join(makeFolder(t), 'file')
  writeFileSync(file, '')

  const outcome = await serve(t, { store: `sqlite:${file}/sidegate.db` })

  saysInOneLine(t, outcome, /^sidegate: the store sqlite:\S+ cannot be opened: .+\n$/)
})

t.test('a store file that is not a store is reported in one line and left unchanged', async t => {
  const file = join(makeFolder(t), 'sidegate.db')
  const letter = 'this is a letter\n'.repeat(100)
  writeFileSync(file, letter)

  const outcome = await serve(t, { store: `sqlite:${file}` })

  saysInOneLine(t, outcome, /^sidegate: the store sqlite:\S+ cannot be opened: file is not a database\n$/)
  t.equal(readFileSync(file, 'utf8'), letter)
})

t.test('an unknown log level is reported in one line with the valid ones', async t => {
  const config = writeConfig(t, { workers: 1, listen: '127.0.0.1:0', admin: '127.0.0.1:0', store: 'memory:' })

  const outcome = await sidegate(['serve', '--config', config], { env: { LOG_LEVEL: 'nonsense' } })

  saysInOneLine(t, outcome, /^sidegate: LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent\n$/)
})

/** Where root may write nothing either. */
const readOnlyFolder = '/sys'

t.test('a store folder without write permission is reported in one line', async t => {
  const outcome = await serve(t, { store: `sqlite:${readOnlyFolder}/sidegate.db` })

  saysInOneLine(t, outcome, /^sidegate: the store sqlite:\S+ cannot be opened: E(ACCES|PERM|ROFS)\b.+\n$/)
})
