import t from 'tap'
import { Secret } from '../../src/secret.ts'
import { type AuditEntry, createAudit, narrowAudit } from '../../src/telemetry/audit.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { faultsOf, type LogLine } from './support/log-line.ts'

const where = { address: '192.0.2.1', request_id: 'one' }
const issued: AuditEntry = {
  action: 'token_issued',
  client_id: 'app',
  sub: 'app',
  grant_type: 'client_credentials',
  format: 'jwt',
  jti: 'a',
  ...where,
}
const refused: AuditEntry = { action: 'client_refused', reason: 'bad_secret', ...where }
const introspected: AuditEntry = { action: 'token_introspected', client_id: 'app', reason: 'active', ...where }

/** An audit log of a program with this log level, and the lines that it has written. */
const open = async (level = 'info') => {
  const logger = await createLogger({ level, base: { worker_pid: 7 } })
  const written: string[] = []
  const lines = { write: (line: string) => void written.push(line), flush: () => undefined }
  const audit = createAudit({ ...logger, lines })
  return { audit, actions: () => written.map(line => (JSON.parse(line) as LogLine).action), written }
}

t.test('an audit line matches the catalogue, names its process, and is a warning if the action failed', async t => {
  const { audit, written } = await open()

  for (const entry of [issued, refused]) audit.write(entry)

  const lines = written.map(line => JSON.parse(line) as LogLine)
  t.same(lines.flatMap(faultsOf), [])
  t.match(lines, [
    { level: 'info', worker_pid: 7, outcome: 'success' },
    { level: 'warn', worker_pid: 7, outcome: 'failure' },
  ])
})

t.test('a level above info still writes audit lines, and the level silent writes none', async t => {
  for (const [level, due] of [
    ['warn', 1],
    ['fatal', 1],
    ['silent', 0],
  ] as const) {
    const { audit, written } = await open(level)
    audit.write(issued)
    t.equal(written.length, due, level)
  }
})

t.test('the members of a line have the order of the entry, wherever the action is in the entry', async t => {
  const { audit, written } = await open()
  const { action, ...facts } = issued

  audit.write(issued)
  audit.write({ ...facts, action } as AuditEntry)
  audit.write({ action: 'client_refused', client_id: undefined, reason: 'bad_secret', ...where })

  const opening = (level: string, action: string, outcome: string): string =>
    `{"level":"${level}","time":"T","worker_pid":7,"event":"audit","action":"${action}","outcome":"${outcome}"`
  const issuedLine = `${opening('info', 'token_issued', 'success')},"client_id":"app","sub":"app","grant_type":"client_credentials","format":"jwt","jti":"a","address":"192.0.2.1","request_id":"one"}\n`
  t.same(
    written.map(line => line.replace(/(?<="time":")[^"]+/, 'T')),
    [
      issuedLine,
      issuedLine,
      `${opening('warn', 'client_refused', 'failure')},"reason":"bad_secret","address":"192.0.2.1","request_id":"one"}\n`,
    ],
  )
})

t.test('a secret that is in an entry by mistake is not written to the line', async t => {
  const { audit, written } = await open()

  audit.write({ ...refused, client_id: new Secret('app-secret') } as unknown as AuditEntry)

  t.notOk(written.join('').includes('app-secret'))
})

t.test('text from an unknown client cannot add a line', async t => {
  const { audit, written } = await open()

  audit.write({ ...refused, client_id: 'a","level":"info"}\n{"event":"audit"' })

  t.match(written, [/^[^\n]*\n$/])
  t.match(JSON.parse(written[0] ?? ''), { level: 'warn', client_id: 'a","level":"info"}\n{"event":"audit"' })
})

t.test('each audit scope includes the entries of the smaller scope', async t => {
  const toldIn = async (scope: Parameters<typeof narrowAudit>[1]) => {
    const { audit, actions } = await open()
    for (const entry of [refused, issued, introspected]) narrowAudit(audit, scope).write(entry)
    return actions()
  }

  t.same(await toldIn('changes'), ['client_refused'])
  t.same(await toldIn('issues'), ['client_refused', 'token_issued'])
  t.same(await toldIn('all'), ['client_refused', 'token_issued', 'token_introspected'])
})

t.test('an entry that is not in the catalogue does not compile', async t => {
  const { audit } = await open()
  // @ts-expect-error no such action
  t.throws(() => audit.write({ action: 'token_eaten', ...where }))
  // @ts-expect-error a token is no field of it
  audit.write({ ...refused, token: 'a' })
  // @ts-expect-error its reason is missing
  audit.write({ action: 'client_refused', ...where })
})
