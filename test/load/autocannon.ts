/**
 * Sends one client's load on one operation with autocannon, and reports whether its plan holds and how long it waits.
 * `--help` has the options. The exit code is 1 if something failed, or if more than `--plan` was let in within a
 * second.
 */
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { type LoadAnswer, type LoadResult, summarize } from './answers.ts'
import { toCount } from './count.ts'

const usage = `npx node test/load/autocannon.ts [option ...]
  --url URL          the operation                          http://localhost:8080/accounts
  --token-url URL    where the client gets its token        /token of the same origin
  --client ID        its secret is in CLIENT_SECRET         demo, demo-secret
  --rate N           requests a second                      200
  --plan N           what its plan lets in of them          not judged
  --seconds N        how long                               10
  --connections N    how many take part                     10`

interface Options {
  readonly url: URL
  readonly tokenUrl: URL
  readonly client: string
  readonly secret: string
  readonly ratePerSec: number
  /** The maximum in any second; undefined: the run does not judge it. */
  readonly planPerSec: number | undefined
  readonly durationSec: number
  readonly connections: number
}

/** Undefined where only help was asked for. Throws a TypeError that says what is wrong with the arguments. */
const parseOptions = (): Options | undefined => {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: 'http://localhost:8080/accounts' },
      'token-url': { type: 'string', default: '/token' },
      client: { type: 'string', default: 'demo' },
      rate: { type: 'string', default: '200' },
      plan: { type: 'string' },
      seconds: { type: 'string', default: '10' },
      connections: { type: 'string', default: '10' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const url = toUrl(values.url)
  return {
    url,
    tokenUrl: toUrl(values['token-url'], url),
    client: values.client,
    secret: process.env.CLIENT_SECRET ?? 'demo-secret',
    ratePerSec: toCount(values.rate),
    planPerSec: values.plan === undefined ? undefined : toCount(values.plan),
    durationSec: toCount(values.seconds),
    connections: toCount(values.connections),
  }
}

const toUrl = (text: string, base?: URL): URL => {
  const url = URL.parse(text, base)
  if (!url) throw new TypeError(`a URL is wanted, such as http://localhost:8080/accounts, not ${text}`)
  return url
}

/** Throws an Error with the answer where there is no token in it. */
const obtainToken = async ({ tokenUrl, client, secret }: Options): Promise<string> => {
  // RFC 6749 section 2.3.1: both are encoded as in a form before they become Basic credentials.
  const credentials = [client, secret].map(encodeURIComponent).join(':')
  const answer = await fetch(tokenUrl, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(credentials)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const text = await answer.text()
  const token = answer.ok && /"access_token":"([^"]+)"/.exec(text)?.[1]
  if (!token) throw new Error(`${tokenUrl} answered ${answer.status}: ${text}`)
  return token
}

interface Sent {
  readonly answers: readonly LoadAnswer[]
  /** Requests that got no answer: the connection broke, or ten seconds passed. */
  readonly unanswered: number
  readonly durationSec: number
}

/** At the beginning of each second every connection sends its share of that second's requests, one after another. */
const send = async (options: Options, token: string): Promise<Sent> => {
  const answers: LoadAnswer[] = []
  const load = autocannon(
    {
      url: options.url.href,
      headers: { authorization: `Bearer ${token}` },
      overallRate: options.ratePerSec,
      duration: options.durationSec,
      connections: options.connections,
    },
    () => undefined,
  )
  load.on('response', (_client, status, _bytes, tookMs) => {
    const answeredAtMs = performance.now()
    answers.push({ status, sentAtMs: answeredAtMs - tookMs, answeredAtMs })
  })
  return new Promise((resolve, reject) => {
    load.once('error', reject)
    load.once('done', ({ errors, duration }) => resolve({ answers, unanswered: errors, durationSec: duration }))
  })
}

const report = (result: LoadResult, { planPerSec }: Options, unanswered: number): string =>
  [
    `answers per second: ${result.answersPerSec.toFixed(0)}`,
    `p50: ${result.p50Ms.toFixed(1)} ms, p99: ${result.p99Ms.toFixed(1)} ms`,
    `answered: ${result.statuses.map(([status, count]) => `${count} with ${status}`).join(', ')}`,
    `without an answer: ${unanswered}`,
    `let in within the fullest second: ${result.mostInOneSecond}${planPerSec === undefined ? '' : ` of ${planPerSec}`}`,
  ].join('\n')

const main = async (): Promise<void> => {
  const options = parseOptions()
  if (!options) return console.log(usage)
  const { answers, unanswered, durationSec } = await send(options, await obtainToken(options))
  if (answers.length === 0) throw new Error(`${options.url} answered nothing`)
  const result = summarize(answers, durationSec)
  console.log(report(result, options, unanswered))
  const isExceeded = result.mostInOneSecond > (options.planPerSec ?? Number.POSITIVE_INFINITY)
  if (isExceeded || result.failed > 0 || unanswered > 0) process.exitCode = 1
}

/** `fetch` says in its cause alone what failed. */
const messageOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message || String(cause)}` : message

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? messageOf(error) : error)
  process.exitCode = 1
})
