import t from 'tap'
import { FairQueue } from '../../../src/oauth/secrets/fair-queue.ts'

/** Adds one job that is named after its account and its address. */
const add = (queue: FairQueue<string>, account: string, address: string, cost = 1): string | undefined =>
  queue.add({ work: `${account}@${address}`, flows: [`account ${account}`, `address ${address}`], cost })

const takeAll = (queue: FairQueue<string>): readonly string[] => {
  const taken: string[] = []
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next)
  return taken
}

t.test('jobs of equal flows leave in the order of their arrival', async t => {
  const queue = new FairQueue<string>(10)
  for (const account of ['a', 'b', 'c']) add(queue, account, account)

  t.same(takeAll(queue), ['a@a', 'b@b', 'c@c'])
  t.equal(queue.take(), undefined)
})

t.test('many jobs for one account from many addresses delay only that account', async t => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 50; i++) add(queue, 'tried', `from-${i}`)
  add(queue, 'other', 'elsewhere')

  t.equal(takeAll(queue).indexOf('other@elsewhere'), 1)
})

t.test('many jobs from one address for many accounts delay only that address', async t => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 50; i++) add(queue, `tried-${i}`, 'guesser')
  add(queue, 'tried-49', 'elsewhere')

  const order = takeAll(queue)
  t.equal(order.indexOf('tried-49@elsewhere'), 2, 'also when that address has tried the same account')
  t.equal(order.length, 51)
})

t.test('a job with a higher cost counts more', async t => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 3; i++) add(queue, 'dear', 'a', 4)
  for (let i = 0; i < 6; i++) add(queue, 'cheap', 'b')

  t.same(
    takeAll(queue).map(work => work.split('@')[0]),
    ['dear', 'cheap', 'cheap', 'cheap', 'cheap', 'dear', 'cheap', 'cheap', 'dear'],
  )
})

t.test('a full queue rejects the job that would be the last, which is never of a flow with little work', async t => {
  const queue = new FairQueue<string>(3)
  for (let i = 0; i < 3; i++) t.equal(add(queue, `tried-${i}`, 'guesser'), undefined)

  t.equal(add(queue, 'tried-3', 'guesser'), 'tried-3@guesser')
  t.equal(add(queue, 'other', 'elsewhere'), 'tried-2@guesser')
  t.same(takeAll(queue), ['tried-0@guesser', 'other@elsewhere', 'tried-1@guesser'])
})

t.test('a flow that was served long ago starts like a new one', async t => {
  const queue = new FairQueue<string>(100)
  for (let i = 0; i < 20; i++) add(queue, 'old', 'a')
  for (let i = 0; i < 20; i++) queue.take()
  for (let i = 0; i < 3; i++) add(queue, 'new', 'b')
  queue.take()
  queue.take()
  add(queue, 'old', 'a')

  t.same(takeAll(queue), ['old@a', 'new@b'])
})
