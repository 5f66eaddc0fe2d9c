import type { Test } from 'tap'
import { newId, newPushedRequest } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testPushedRequests = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { pushed } = store
  const farMs = clock.nowMs() + 600_000

  t.test('a pushed request is found any number of times until its expiry', async t => {
    const id = newId()
    const request = newPushedRequest()
    t.equal(await pushed.find(id), undefined)
    await pushed.create(id, request, clock.nowMs() + shortMs)

    t.same(await pushed.find(id), request)
    t.same(await pushed.find(id), request)
    await elapse(shortMs)
    t.equal(await pushed.find(id), undefined)
  })
  t.test(
    'the interaction that completes a pushed request first may do so again, no other may, and the request is not found any longer',
    async t => {
      const [id, first] = [newId(), newId()]
      await pushed.create(id, newPushedRequest(), farMs)

      t.equal(await pushed.complete(id, first, farMs), true)
      t.equal(await pushed.complete(id, `${first}.`, farMs), false)
      t.equal(await pushed.complete(id, first, farMs), true)
      t.equal(await pushed.find(id), undefined)
    },
  )
  t.test('the completion of one pushed request does not affect the others', async t => {
    const [id, other] = [newId(), newId()]
    const request = newPushedRequest()
    await pushed.create(id, newPushedRequest(), farMs)
    await pushed.create(other, request, farMs)
    await pushed.complete(id, newId(), farMs)

    t.same(await pushed.find(other), request)
    t.equal(await pushed.complete(other, newId(), farMs), true)
  })
  t.test('an expired pushed request is completed by one interaction too', async t => {
    const [id, first] = [newId(), newId()]
    await pushed.create(id, newPushedRequest(), clock.nowMs() + shortMs)
    await elapse(shortMs)

    t.equal(await pushed.complete(id, first, farMs), true)
    t.equal(await pushed.complete(id, newId(), farMs), false)
    t.equal(await pushed.complete(id, first, farMs), true)
  })
  t.test(
    'the interaction that completed it is remembered past the expiry of the request, and then forgotten',
    async t => {
      const [id, first] = [newId(), newId()]
      await pushed.create(id, newPushedRequest(), clock.nowMs() + 1)
      await pushed.complete(id, first, clock.nowMs() + 2 * shortMs)
      await elapse(shortMs)
      t.equal(await pushed.complete(id, newId(), farMs), false)
      await elapse(shortMs)

      t.equal(await pushed.complete(id, newId(), farMs), true)
    },
  )
}
