import type { Test } from 'tap'
import type { FeedEnds } from '../../../src/stores/ports/feeds.ts'
import { newId } from '../records.ts'
import type { OpenStore } from './store-under-test.ts'

export const testFeeds = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock } = await open(t)
  const farMs = (): number => clock.nowMs() + 600_000
  const changes: Readonly<Record<keyof FeedEnds, () => Promise<unknown>>> = {
    revocations: () => store.revocations.revoke(newId(), farMs()),
    cutoffs: () => store.cutoffs.add({ sub: newId(), throughSec: 1, untilMs: farMs() }),
    clients: () => store.clients.put(newId(), { disabled: true }, undefined),
  }

  t.test('each change moves the end of its own feed, and of no other feed', async t => {
    for (const [feed, change] of Object.entries(changes)) {
      const before = await store.feeds.ends()
      await change()
      const once = await store.feeds.ends()
      await change()
      const twice = await store.feeds.ends()

      t.equal(new Set([before, once, twice].map(ends => ends[feed as keyof FeedEnds])).size, 3, feed)
      t.same({ ...twice, [feed]: '' }, { ...before, [feed]: '' })
    }
  })
  t.test('a repeated revocation, and a client that is created and deleted, are changes', async t => {
    const id = newId()
    await store.revocations.revoke(id, farMs())
    await store.clients.put(id, { disabled: true }, undefined)
    const before = await store.feeds.ends()

    await store.revocations.revoke(id, farMs())
    await store.clients.put(id, undefined, (await store.clients.find(id))?.version)
    const after = await store.feeds.ends()

    t.not(after.revocations, before.revocations)
    t.not(after.clients, before.clients)
  })
  t.test('without a change no feed has another end', async t => {
    t.same(await store.feeds.ends(), await store.feeds.ends())
  })
}
