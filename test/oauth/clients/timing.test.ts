import t from 'tap'
import { hashGeneratedSecret } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import { answer, basic, client, formRequest, startServer } from '../support/authorization-server.ts'

/** One kind of failure, with the milliseconds from each request to its refusal. */
interface Failure {
  readonly authorization: string
  readonly timesMs: number[]
}

const failure = (authorization: string): Failure => ({ authorization, timesMs: [] })

const rounds = 2000

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const distance = (a: readonly number[], b: readonly number[]): number => Math.abs(median(a) - median(b))

/** The maximum difference between the medians of two equal groups, over many random halvings of the same times. */
const noiseOf = (values: readonly number[]): number =>
  Math.max(...Array.from({ length: 100 }, () => distance(...halvesOf(shuffled(values)))))

const halvesOf = (values: readonly number[]): [readonly number[], readonly number[]] => [
  values.slice(0, values.length >> 1),
  values.slice(values.length >> 1),
]

const shuffled = (values: readonly number[]): readonly number[] =>
  values
    .map(value => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)

t.test(
  'the response time does not tell an unknown client from a wrong secret (RFC 6749 section 10.10; checklist 18)',
  async t => {
    const quick = { kind: 'hash', value: new Secret(hashGeneratedSecret(new Secret('generated'))) } as const
    const { server } = await startServer(t, { clients: [client('one'), client('two', { secrets: [quick] })] })
    const unknown = failure(basic('nil', 'guessed'))
    const plain = failure(basic('one', 'guessed'))
    const hashed = failure(basic('two', 'guessed'))
    // Refused before any secret is compared: this proves that the measurement detects a difference.
    const unread = failure('Basic guessed')
    const ways = [unknown, plain, hashed, unread]
    const fail = async (way: Failure, round: number): Promise<void> => {
      // From another address each time, so that no client is rate limited.
      const address = `10.${ways.indexOf(way)}.${round >> 8}.${round & 255}`
      const request = formRequest({}, { request: { authorization: [way.authorization], address } })
      const form = server.parseForm(request)
      const startedAtMs = performance.now()
      await answer(() => server.authenticate(form, request))
      way.timesMs.push(performance.now() - startedAtMs)
    }

    // In turns, in another order each time, so that a disturbance of the machine affects all kinds alike.
    for (let round = 0; round < rounds; round++) {
      const turn = round % ways.length
      for (const way of [...ways.slice(turn), ...ways.slice(0, turn)]) await fail(way, round)
    }

    const differ = (a: Failure, b: Failure): boolean =>
      distance(a.timesMs, b.timesMs) > 2 * Math.max(noiseOf(a.timesMs), noiseOf(b.timesMs))
    const medians = ways.map(({ timesMs }) => `${(median(timesMs) * 1000).toFixed(1)} µs`).join(', ')
    t.notOk(differ(unknown, plain), `a secret that is configured (${medians})`)
    t.notOk(differ(unknown, hashed), `a secret that is stored as a hash (${medians})`)
    t.ok(differ(unknown, unread), `and a difference would show (${medians})`)
  },
)
