import t from 'tap'
import { FairQueue } from '../../../src/oauth/secrets/fair-queue.ts'

/** Adds one piece of work that is named after its account and its address. */
const add = (queue: FairQueue<string>, account: string, address: string, cost = 1): string | undefined =>
  queue.add({ work: `${account}@${address}`, flows: [`account ${account}`, `address ${address}`], cost })

const takeAll = (queue: FairQueue<string>): readonly string[] => {
  const taken: string[] = []
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next)
  return taken
}

t.test('work of equal flows leaves in the order in which it came', async t => {
  const queue = new FairQueue<string>(10)
  for (const account of ['a', 'b', 'c']) add(queue, account, account)

  t.same(takeAll(queue), ['a@a', 'b@b', 'c@c'])
  t.equal(queue.take(), undefined)
})

t.test('much work for one account from many addresses delays that account alone', async t => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 50; i++) add(queue, 'tried', `from-${i}`)
  add(queue, 'other', 'elsewhere')

  t.equal(takeAll(queue).indexOf('other@elsewhere'), 1)
})

t.test('much work from one address for many accounts delays that address alone', async t => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 50; i++) add(queue, `tried-${i}`, 'guesser')
  add(queue, 'tried-49', 'elsewhere')

  const order = takeAll(queue)
  t.equal(order.indexOf('tried-49@elsewhere'), 2, 'also when that address has tried the same account')
  t.equal(order.length, 51)
})

t.test('work that costs more counts for more', async t => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 3; i++) add(queue, 'dear', 'a', 4)
  for (let i = 0; i < 6; i++) add(queue, 'cheap', 'b')

  t.same(
    takeAll(queue).map(work => work.split('@')[0]),
    ['dear', 'cheap', 'cheap', 'cheap', 'cheap', 'dear', 'cheap', 'cheap', 'dear'],
  )
})

t.test(
  'a full queue sends away what would be the last, and that is not work of a flow that has had little',
  async t => {
    const queue = new FairQueue<string>(3)
    for (let i = 0; i < 3; i++) t.equal(add(queue, `tried-${i}`, 'guesser'), undefined)

    t.equal(add(queue, 'tried-3', 'guesser'), 'tried-3@guesser')
    t.equal(add(queue, 'other', 'elsewhere'), 'tried-2@guesser')
    t.same(takeAll(queue), ['tried-0@guesser', 'other@elsewhere', 'tried-1@guesser'])
  },
)

t.test('a flow that was served long ago begins like a new one', async t => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 20; i++) add(queue, 'old', 'a')
  for (let i = 0; i < 20; i++) queue.take()
  for (let i = 0; i < 3; i++) add(queue, 'new', 'b')
  queue.take()
  queue.take()
  add(queue, 'old', 'a')

  t.same(takeAll(queue), ['old@a', 'new@b'])
})
