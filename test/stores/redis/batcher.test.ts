import { Cluster, Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { type BatchOptions, createBatcher } from '../../../src/stores/redis/batcher.ts'

type Options = BatchOptions<string, readonly string[], string>

const toCapitals: Options['call'] = async questions => questions.map(question => question.toUpperCase())

/** Asks in batches of at most three. The key is the first letter of a question. Records the questions of each call. */
const createAsker = (
  t: Test,
  connection: Redis | Cluster,
  { call = toCapitals, ...changes }: Partial<Options> = {},
) => {
  const calls: (readonly string[])[] = []
  t.teardown(() => connection.disconnect())
  const ask = createBatcher<string, readonly string[], string>(connection, {
    schedule: setImmediate,
    maxBatchSize: 3,
    keyOf: question => question.slice(0, 1),
    call: questions => {
      calls.push(questions)
      return call(questions)
    },
    answerAt: (reply, index) => reply[index] ?? 'nothing',
    ...changes,
  })
  return { ask, calls }
}

const single = () => new Redis({ lazyConnect: true })

t.test('questions of one turn of the event loop are one call, and each gets its own answer', async t => {
  const { ask, calls } = createAsker(t, single())

  const first = ask('a1')
  await null
  const answers = await Promise.all([first, ask('b1'), ask('a2')])

  t.same(answers, ['A1', 'B1', 'A2'])
  t.same(calls, [['a1', 'b1', 'a2']])
})

t.test('a question of the next turn is in another call', async t => {
  const { ask, calls } = createAsker(t, single())

  await ask('a1')
  await ask('a2')

  t.same(calls, [['a1'], ['a2']])
})

t.test('more questions than the largest batch holds are sent in several calls', async t => {
  const { ask, calls } = createAsker(t, single())

  const answers = await Promise.all(['a', 'b', 'c', 'd'].map(ask))

  t.same(answers, ['A', 'B', 'C', 'D'])
  t.same(calls, [['a', 'b', 'c'], ['d']])
})

t.test('in a Redis Cluster each key has a call of its own', async t => {
  const { ask, calls } = createAsker(t, new Cluster(['redis://127.0.0.1:1'], { lazyConnect: true }))

  const answers = await Promise.all(['a1', 'b1', 'a2'].map(ask))

  t.same(answers, ['A1', 'B1', 'A2'])
  t.same(calls, [['a1', 'a2'], ['b1']])
})

t.test('a server with slots gets the questions again, and from then on one call for each key', async t => {
  const refuseSeveralKeys: Options['call'] = async questions => {
    if (new Set(questions.map(([key]) => key)).size > 1) throw new Error("CROSSSLOT Keys don't hash to the same slot")
    return toCapitals(questions)
  }
  const { ask, calls } = createAsker(t, single(), { call: refuseSeveralKeys })

  t.same(await Promise.all(['a1', 'b1', 'c1', 'a2', 'd1'].map(ask)), ['A1', 'B1', 'C1', 'A2', 'D1'])
  t.same(calls, [['a1', 'b1', 'c1'], ['a2', 'd1'], ['a1'], ['b1'], ['c1'], ['a2'], ['d1']])
  t.same(await Promise.all(['a3', 'b3'].map(ask)), ['A3', 'B3'])
  t.same(calls.slice(7), [['a3'], ['b3']])
})

t.test('a question whose own keys are of several slots is asked once more and refused', async t => {
  const refuse: Options['call'] = () => Promise.reject(new Error('CROSSSLOT'))
  const { ask, calls } = createAsker(t, single(), { call: refuse })

  await t.rejects(ask('a1'), { message: 'CROSSSLOT' })
  t.same(calls, [['a1'], ['a1']])
})

t.test('a call that fails refuses each of its questions, and no other', async t => {
  const refuseD: Options['call'] = questions =>
    questions.includes('d') ? Promise.reject(new Error('gone')) : toCapitals(questions)
  const toError = (reason: unknown) => new TypeError('away', { cause: reason })
  const { ask } = createAsker(t, single(), { call: refuseD, toError })

  const answers = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map(ask))

  t.match(answers.slice(0, 3), [{ value: 'A' }, { value: 'B' }, { value: 'C' }])
  const refused = { status: 'rejected', reason: { message: 'away', cause: { message: 'gone' } } }
  t.match(answers.slice(3), [refused, refused])
})

t.test('an answer that cannot be read fails its own question', async t => {
  const answerAt: Options['answerAt'] = (reply, index) => {
    if (index === 1) throw new SyntaxError('unreadable')
    return reply[index] ?? 'nothing'
  }
  const { ask } = createAsker(t, single(), { answerAt })

  const answers = await Promise.allSettled(['a', 'b', 'c'].map(ask))

  t.match(answers, [{ value: 'A' }, { reason: { message: 'unreadable' } }, { value: 'C' }])
})
