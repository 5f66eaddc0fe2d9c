import t, { type Test } from 'tap'
import { createRecentMaximum, createReplicaCounter } from '../../src/stores/replica-counter.ts'
import { parseStoreUrl } from '../../src/stores/store-url.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { createTestClock } from '../support/test-clock.ts'

const openCounter = (t: Test, address: string, podId: string) => {
  const url = parseStoreUrl(address)
  if ('problem' in url || url.kind !== 'redis') throw new Error('this needs the address of a Redis')
  const counter = createReplicaCounter(url, podId)
  t.teardown(() => counter.close())
  return counter
}

t.test('pods that share a Redis count each other and agree on their places', async t => {
  const redis = await startRedis(t)
  const pods = ['c', 'a', 'b'].map(podId => openCounter(t, redis.url, podId))

  await eventually(() => pods.every(pod => pod.count() === 3))
  await eventually(() => pods.map(pod => pod.index()).join() === '2,0,1')
  t.ok((await redis.client.pttl('sidegate:pods')) > 0)
})

t.test('a pod that has ended still counts for a while, also when Redis restarts without data', async t => {
  const redis = await startRedis(t)
  const [stays, goes] = [openCounter(t, redis.url, 'stays'), openCounter(t, redis.url, 'goes')]
  await eventually(() => stays.count() === 2)

  goes.close()
  await redis.kill()
  t.equal(stays.count(), 2)
  await redis.start()

  await eventually(async () => (await redis.client.zcard('sidegate:pods')) === 1)
  t.equal(stays.count(), 2)
})

t.test('without a Redis there is one pod', async t => {
  const redis = await startRedis(t)
  await redis.kill()

  const pod = openCounter(t, redis.url, 'alone')

  t.same([pod.count(), pod.index()], [1, 0])
})

t.test('a recent maximum falls to the largest value that was added recently', async t => {
  const clock = createTestClock(0)
  const recent = createRecentMaximum(600, clock.nowMs)
  const added: number[] = []
  for (const value of [1, 5, 3, 2, 2, 4, 1]) {
    recent.add(value)
    added.push(recent.maximum())
    clock.advance(200)
  }

  t.same(added, [1, 5, 5, 5, 3, 4, 4])
})
