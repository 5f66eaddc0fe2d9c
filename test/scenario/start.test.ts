import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { launcher } from '../cli/run.ts'
import { linesToPaste, type StartedDemo, startDemo } from '../support/started-demo.ts'

const run = promisify(execFile)

/** The command of `npm start`. */
const start = (t: Test): Promise<StartedDemo> => startDemo(t, [process.execPath, launcher])

const bash = async (script: string): Promise<string> => (await run('bash', ['-c', script])).stdout

t.test('a bare start serves the demo, and the three lines that it prints work when pasted', async t => {
  const { greeting, admin } = await start(t)

  t.match(greeting, /gateway {3}http:\/\/127\.0\.0\.1:\d+\n/)
  t.match(greeting, new RegExp(`admin {5}${admin} `))
  t.match(greeting, /client {4}demo \/ demo-secret\n/)
  t.match(greeting, /user {6}alice \/ wonderland\n/)
  t.equal((await fetch(`${admin}/readyz`)).status, 200)

  const [getToken = '', callApi = '', askMetadata = '', ...more] = linesToPaste(greeting)
  t.same(more, [])
  t.match(await bash(`${getToken}\necho "$TOKEN"`), /^[\w-]+\.[\w-]+\.[\w-]+\n$/, 'a JWT')
  const answer = await bash(`${getToken}\n${callApi}`)
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(answer, /"accounts": \[/)
  t.match(answer, /"x-sidegate-client-id": "demo"/)
  const metadata = await bash(askMetadata)
  t.match(metadata, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(metadata, /"token_endpoint":/)
})

t.test('a used port is reported in one line, and no process is left behind', async t => {
  const { greeting } = await start(t)
  const [, upstream = ''] = /gateway {3}http:\/\/(\S+)/.exec(greeting) ?? []
  const { SIDEGATE_CONFIG: _, ...env } = process.env
  const dir = t.testdir()

  const outcome = await run(process.execPath, [launcher, 'start'], {
    cwd: dir,
    env: {
      ...env,
      SIDEGATE_LISTEN: '127.0.0.1:0',
      SIDEGATE_ADMIN: '127.0.0.1:0',
      SIDEGATE_UPSTREAM: `http://${upstream}`,
    },
  }).catch(error => error)

  t.match(outcome, {
    code: 1,
    stderr: `sidegate: the demo upstream cannot listen on http://${upstream}: the port is taken by another program; set SIDEGATE_UPSTREAM to another address\n`,
  })
})

t.test('without a configuration a used port is reported with the variable that changes it', async t => {
  const { greeting } = await start(t)
  const [, taken = ''] = /gateway {3}http:\/\/(\S+)/.exec(greeting) ?? []
  const { SIDEGATE_CONFIG: _, ...env } = process.env

  const startOn = (addresses: NodeJS.ProcessEnv) =>
    run(process.execPath, [launcher, 'start'], { cwd: t.testdir(), env: { ...env, ...addresses } }).catch(
      error => error,
    )

  t.match(await startOn({ SIDEGATE_LISTEN: taken, SIDEGATE_ADMIN: '127.0.0.1:0' }), {
    code: 1,
    stderr: `sidegate: cannot listen on ${taken}: the port is taken by another program; set SIDEGATE_LISTEN to another address\n`,
  })
  t.match(await startOn({ SIDEGATE_LISTEN: '127.0.0.1:0', SIDEGATE_ADMIN: taken }), {
    code: 1,
    stderr: `sidegate: cannot listen on ${taken} (admin): the port is taken by another program; set SIDEGATE_ADMIN to another address\n`,
  })
})
