import t, { type Test } from 'tap'
import { createFeedWatch, type FeedReader } from '../../src/oauth/feed-watch.ts'
import type { FeedEnds } from '../../src/stores/ports/feeds.ts'
import { eventually } from '../support/eventually.ts'

/** A store whose feed ends the test sets, and which counts the calls. */
const start = (t: Test) => {
  const store = { ends: { revocations: '1', cutoffs: '1', clients: '1' } as FeedEnds, isAway: false, questions: 0 }
  const watch = createFeedWatch({
    ends: async () => {
      store.questions++
      if (store.isAway) throw new Error('away')
      return store.ends
    },
  })
  t.teardown(watch.close)
  const askedAgain = async (): Promise<void> => {
    const { questions } = store
    // The second watch begins when the reads of the first one are over.
    await eventually(() => store.questions >= questions + 2)
  }
  return { store, watch, askedAgain }
}

const createReader = () => {
  const reader = {
    reads: 0,
    failures: [] as unknown[],
    read: async (): Promise<void> => void reader.reads++,
    settled: (error: unknown): void => void reader.failures.push(error),
  }
  return reader satisfies FeedReader
}

t.test('a reader reads at once, and not again while its feed is unchanged', async t => {
  const { store, watch, askedAgain } = start(t)
  const reader = createReader()

  await watch.follow(['clients'], reader).first
  t.equal(reader.reads, 1)
  await askedAgain()
  const { reads } = reader
  store.ends = { ...store.ends, revocations: '2' }
  await askedAgain()

  t.equal(reader.reads, reads)
})

t.test('it reads after each change, with one call for all readers', async t => {
  const { store, watch, askedAgain } = start(t)
  const [one, other] = [createReader(), createReader()]
  watch.follow(['revocations', 'cutoffs'], one)
  watch.follow(['clients'], other)
  await askedAgain()
  const before = [one.reads, other.reads]

  store.ends = { ...store.ends, cutoffs: '2' }
  await askedAgain()
  t.same([one.reads, other.reads], [Number(before[0]) + 1, before[1]])
  store.ends = { ...store.ends, clients: '2' }
  await askedAgain()

  t.same([one.reads, other.reads], [Number(before[0]) + 1, Number(before[1]) + 1])
})

t.test('each failed call of the store is reported, and everything is read when the store is back', async t => {
  const { store, watch, askedAgain } = start(t)
  const reader = createReader()
  watch.follow(['clients'], reader)
  await askedAgain()
  const { reads } = reader

  store.isAway = true
  await askedAgain()
  t.match(reader.failures.at(-1), { message: 'away' })
  t.equal(reader.reads, reads)
  store.isAway = false
  await askedAgain()

  t.equal(reader.failures.at(-1), undefined)
  t.equal(reader.reads, reads + 1)
})

t.test('a failed read is repeated', async t => {
  const { watch, askedAgain } = start(t)
  let reads = 0
  const failures: unknown[] = []
  const reader: FeedReader = {
    read: async () => {
      reads++
      if (reads < 3) throw new Error('lost')
    },
    settled: error => failures.push(error),
  }

  await watch.follow(['clients'], reader).first
  await askedAgain()
  await askedAgain()

  t.match(failures.slice(0, 3), [{ message: 'lost' }, { message: 'lost' }, undefined])
  t.equal(reads, 3)
})

t.test('a change during a read is read after it, and other readers do not wait', async t => {
  const { store, watch, askedAgain } = start(t)
  const slow = createReader()
  const end = Promise.withResolvers<void>()
  const swift = createReader()
  watch.follow(['clients'], { ...slow, read: () => slow.read().then(() => end.promise) })
  watch.follow(['clients'], swift)
  await askedAgain()
  const { reads } = swift

  store.ends = { ...store.ends, clients: '2' }
  await askedAgain()
  t.equal(slow.reads, 1)
  t.equal(swift.reads, reads + 1)
  end.resolve()
  await askedAgain()

  t.equal(slow.reads, 2)
})

t.test('after close the store is not called again, and a reader that has left does not read again', async t => {
  const { store, watch, askedAgain } = start(t)
  const [gone, there] = [createReader(), createReader()]
  const following = watch.follow(['clients'], gone)
  watch.follow(['clients'], there)
  await askedAgain()
  const { reads } = gone

  following.close()
  store.ends = { ...store.ends, clients: '2' }
  await askedAgain()
  t.equal(gone.reads, reads)
  watch.close()
  const { questions } = store
  await new Promise(resolve => setTimeout(resolve, 600))

  t.equal(store.questions, questions)
})
