/**
 * One client's load on one forwarded operation, for k6: `k6 run test/load/k6.js`. The rate rises and then stays
 * constant, and the summary has the requests that were let in and refused in each second. README.md beside this file
 * has the variables. Exit code 99: a threshold was crossed, so the plan did not hold, something failed, or answers
 * came too late.
 */
import { check, fail } from 'k6'
import { b64encode } from 'k6/encoding'
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter, Rate, Trend } from 'k6/metrics'

const baseUrl = __ENV.BASE_URL || 'http://localhost:8080'
const tokenPath = __ENV.TOKEN_PATH || '/token'
// Not PATH: k6 hands its own environment on, and there that is where programs are.
const apiPath = __ENV.API_PATH || '/accounts'
const clientId = __ENV.CLIENT_ID || 'demo'
const clientSecret = __ENV.CLIENT_SECRET || 'demo-secret'

const toCount = (name, standard) => {
  const count = Number(__ENV[name] || standard)
  if (!Number.isInteger(count) || count < 1)
    throw new TypeError(`${name} is a whole number above 0, not ${__ENV[name]}`)
  return count
}

const ratePerSec = toCount('RATE', 200)
const planPerSec = toCount('PLAN', 100)
const rampSec = toCount('RAMP_SECONDS', 5)
const holdSec = toCount('HOLD_SECONDS', 10)
const p99Ms = toCount('P99_MS', 250)

const seconds = Array.from({ length: rampSec + holdSec }, (_, second) => second)
const expectedShare = Math.max(0, 1 - planPerSec / ratePerSec)

/** The decisions of the plan, for each second in which a request was both sent and answered. */
const admitted = new Counter('admitted')
const refused = new Counter('refused')
/** Sent in one second and answered in the next: in which of them it was decided only the gateway knows. */
const across = new Counter('across')
const refusedShare = new Rate('refused_share')
const waited = new Trend('waited', true)

// k6 keeps the parts of a metric that have a threshold, and no others: so each second has one.
const eachSecond = name => seconds.map(second => `${name}{second:${second}}`)

export const options = {
  scenarios: {
    client: {
      executor: 'ramping-arrival-rate',
      startRate: 1,
      timeUnit: '1s',
      stages: [
        { target: ratePerSec, duration: `${rampSec}s` },
        { target: ratePerSec, duration: `${holdSec}s` },
      ],
      preAllocatedVUs: Math.ceil(ratePerSec / 5),
      maxVUs: ratePerSec * 5,
    },
  },
  discardResponseBodies: true,
  summaryTrendStats: ['p(50)', 'p(99)', 'max'],
  thresholds: {
    // 2xx and 429 are what a plan answers: no 5xx, no 401, and no connection that broke.
    http_req_failed: ['rate==0'],
    checks: ['rate==1'],
    dropped_iterations: ['count==0'],
    'refused_share{phase:hold}': [`rate>=${expectedShare - 0.05}`, `rate<=${expectedShare + 0.05}`],
    'waited{phase:hold}': [`p(99)<${p99Ms}`],
    ...Object.fromEntries(eachSecond('admitted').map(name => [name, [`count<=${planPerSec}`]])),
    ...Object.fromEntries([...eachSecond('refused'), ...eachSecond('across')].map(name => [name, ['count>=0']])),
  },
}

http.setResponseCallback(http.expectedStatuses({ min: 200, max: 299 }, 429))

/** One token for all of it. */
export const setup = () => {
  // RFC 6749 section 2.3.1: both are encoded as in a form before they become Basic credentials.
  const credentials = b64encode([clientId, clientSecret].map(encodeURIComponent).join(':'))
  const answer = http.post(
    `${baseUrl}${tokenPath}`,
    { grant_type: 'client_credentials' },
    { headers: { authorization: `Basic ${credentials}` }, responseType: 'text' },
  )
  if (answer.status !== 200) fail(`${tokenPath} answered ${answer.status || answer.error}: ${answer.body}`)
  const { access_token, expires_in } = answer.json()
  if (expires_in <= rampSec + holdSec) fail(`the token is good for ${expires_in} s, the load takes longer`)
  return { access_token }
}

const saysWhichPlan = ({ headers }) => /;q=\d+;w=\d+/.test(headers['Ratelimit-Policy'] || '')
const saysWhatIsLeft = ({ headers }) => /;r=\d+;t=\d+/.test(headers.Ratelimit || '')
const saysWhenToTryAgain = ({ status, headers }) => status !== 429 || Number(headers['Retry-After']) >= 1

const ask = ({ access_token }) => {
  const sentAtMs = Date.now() - exec.scenario.startTime
  const answer = http.get(`${baseUrl}${apiPath}`, { headers: { authorization: `Bearer ${access_token}` } })
  count(answer.status, sentAtMs, Date.now() - exec.scenario.startTime)
  waited.add(answer.timings.duration, { phase: phaseOf(sentAtMs) })
  check(answer, {
    'RateLimit-Policy says which plan': saysWhichPlan,
    'RateLimit says what is left': saysWhatIsLeft,
    'Retry-After says when to try again': saysWhenToTryAgain,
  })
}
export default ask

const count = (status, sentAtMs, answeredAtMs) => {
  const second = Math.floor(sentAtMs / 1_000)
  const isRefused = status === 429
  refusedShare.add(isRefused, { phase: phaseOf(sentAtMs) })
  const counter = Math.floor(answeredAtMs / 1_000) !== second ? across : isRefused ? refused : admitted
  if (isRefused || (status >= 200 && status < 300)) counter.add(1, { second: String(second) })
}

const phaseOf = sentAtMs => (sentAtMs < rampSec * 1_000 ? 'ramp' : 'hold')

export const handleSummary = ({ metrics }) => {
  if (metrics.iterations === undefined) return { stdout: 'nothing was asked\n' }
  const values = name => metrics[name]?.values ?? {}
  const row = cells => cells.map(cell => String(cell).padStart(10)).join('')
  const rows = seconds.map(second =>
    row([second, ...['admitted', 'refused', 'across'].map(name => values(`${name}{second:${second}}`).count ?? 0)]),
  )
  const waits = values('waited{phase:hold}')
  const crossed = Object.entries(metrics).flatMap(([name, { thresholds }]) =>
    Object.entries(thresholds ?? {}).flatMap(([threshold, { ok }]) => (ok ? [] : [`  ${name}: ${threshold}`])),
  )
  const lines = [
    row(['second', 'admitted', 'refused', 'across']),
    ...rows,
    '',
    `plan: ${planPerSec} per second, asked for: ${ratePerSec} per second`,
    `refused at that rate: ${percent(values('refused_share{phase:hold}').rate)}, expected: ${percent(expectedShare)}`,
    `p50: ${ms(waits['p(50)'])}, p99: ${ms(waits['p(99)'])}, of at most ${p99Ms} ms`,
    `failed: ${percent(values('http_req_failed').rate)}, checks: ${percent(values('checks').rate)}`,
    ...(crossed.length > 0 ? ['crossed:', ...crossed.sort()] : ['everything held']),
  ]
  return { stdout: `${lines.join('\n')}\n` }
}

const percent = share => (share === undefined ? 'nothing' : `${(share * 100).toFixed(1)} %`)
const ms = waitMs => (waitMs === undefined ? 'none' : `${waitMs.toFixed(1)} ms`)
