import t from 'tap'
import { createKeyedMutex } from '../../src/gateway/authn/keyed-mutex.ts'

/** Work that runs until the test ends it. */
const newWork = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let hasBegun = false
  return {
    end: resolve,
    hasBegun: () => hasBegun,
    run: () => {
      hasBegun = true
      return promise
    },
  }
}

t.test('work that waits for nothing is done at once, and costs no name while nothing is under way', async t => {
  const turns = createKeyedMutex()
  let timesNamed = 0

  const result = turns.take(
    () => {
      timesNamed++
      return 'a'
    },
    () => 1,
  )

  t.equal(result, 1)
  t.equal(timesNamed, 0)
})

t.test('work of one name waits for what came before it, and that of another does not', async t => {
  const turns = createKeyedMutex()
  const [first, second, other] = [newWork(), newWork(), newWork()]

  turns.take(() => 'a', first.run)
  const last = turns.take(() => 'a', second.run)
  turns.take(() => 'b', other.run)
  t.same(
    [first, second, other].map(work => work.hasBegun()),
    [true, false, true],
  )

  first.end()
  await first.run()
  await null
  t.equal(second.hasBegun(), true)
  second.end()
  await last
  other.end()
})

t.test('what is known at once waits for its turn as well', async t => {
  const turns = createKeyedMutex()
  const first = newWork()
  turns.take(() => 'a', first.run)

  const later = turns.take(
    () => 'a',
    () => 1,
  )
  t.ok(later instanceof Promise)
  first.end()
  t.equal(await later, 1)
})

t.test('work that fails frees its slot, and an unused name is forgotten', async t => {
  const turns = createKeyedMutex()
  const failed = turns.take(
    () => 'a',
    () => Promise.reject(new Error('no')),
  )
  const next = turns.take(
    () => 'a',
    () => 2,
  )

  await t.rejects(Promise.resolve(failed), { message: 'no' })
  t.equal(await next, 2)
  await null
  t.equal(
    turns.take(
      () => {
        throw new Error('the name is not needed')
      },
      () => 3,
    ),
    3,
  )
})
