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

/** An audit log at a level of the program's own, and what it has written. */
const open = async (level = 'info') => {
  const logger = await createLogger({ level, base: { worker_pid: 7 } })
  const written: string[] = []
  const lines = { write: (line: string) => void written.push(line), flush: () => undefined }
  const audit = createAudit({ ...logger, lines })
  return { audit, actions: () => written.map(line => (JSON.parse(line) as LogLine).action), written }
}

t.test('a line is one of the catalogue, says who wrote it, and is a warning where something failed', async t => {
  const { audit, written } = await open()

  for (const entry of [issued, refused]) audit.write(entry)

  const lines = written.map(line => JSON.parse(line) as LogLine)
  t.same(lines.flatMap(faultsOf), [])
  t.match(lines, [
    { level: 'info', worker_pid: 7, outcome: 'success' },
    { level: 'warn', worker_pid: 7, outcome: 'failure' },
  ])
})

t.test('whoever wants no access lines gets audit lines all the same, and silence is silence', async t => {
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

t.test('a line has its members in the order of the entry, wherever its action stands there', async t => {
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

t.test('a secret that comes into an entry by mistake does not come into the line', async t => {
  const { audit, written } = await open()

  audit.write({ ...refused, client_id: new Secret('app-secret') } as unknown as AuditEntry)

  t.notOk(written.join('').includes('app-secret'))
})

t.test('what a stranger sent makes no line of its own', async t => {
  const { audit, written } = await open()

  audit.write({ ...refused, client_id: 'a","level":"info"}\n{"event":"audit"' })

  t.match(written, [/^[^\n]*\n$/])
  t.match(JSON.parse(written[0] ?? ''), { level: 'warn', client_id: 'a","level":"info"}\n{"event":"audit"' })
})

t.test('each scope tells what the one before it does, and more', async t => {
  const toldIn = async (scope: Parameters<typeof narrowAudit>[1]) => {
    const { audit, actions } = await open()
    for (const entry of [refused, issued, introspected]) narrowAudit(audit, scope).write(entry)
    return actions()
  }

  t.same(await toldIn('changes'), ['client_refused'])
  t.same(await toldIn('issues'), ['client_refused', 'token_issued'])
  t.same(await toldIn('all'), ['client_refused', 'token_issued', 'token_introspected'])
})

t.test('an entry that the catalogue has not does not compile', async t => {
  const { audit } = await open()
  // @ts-expect-error no such action
  t.throws(() => audit.write({ action: 'token_eaten', ...where }))
  // @ts-expect-error a token is no field of it
  audit.write({ ...refused, token: 'a' })
  // @ts-expect-error its reason is missing
  audit.write({ action: 'client_refused', ...where })
})
