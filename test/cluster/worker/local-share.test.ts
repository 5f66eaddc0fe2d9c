import t from 'tap'
import type { SidegateConfig } from '../../../src/app.ts'
import { createLocalShare } from '../../../src/cluster/worker/local-share.ts'

const shareIn = (pods: number, pod: number | undefined, workers: number, slot: number) => {
  const share = createLocalShare(slot, { workers, pods: pod === undefined ? pods : 'auto' } as SidegateConfig)
  if (pod !== undefined) share.setPods(pods, pod)
  return share.now()
}

t.test('each worker of each pod holds one share', async t => {
  const shares = [0, 1, 2].flatMap(pod => [0, 1].map(slot => shareIn(3, pod, 2, slot)))

  t.strictSame(
    shares,
    [0, 1, 2, 3, 4, 5].map(index => ({ index, of: 6 })),
  )
})

t.test(
  'a worker that does not know which of several pods it is in holds the last share, which is rounded down',
  async t => {
    t.strictSame(
      [shareIn(3, undefined, 2, 0), shareIn(3, undefined, 2, 1)],
      [5, 5].map(index => ({ index, of: 6 })),
    )
  },
)

t.test('a single pod knows its index without a message', async t => {
  t.strictSame(
    [shareIn(1, undefined, 2, 0), shareIn(1, undefined, 2, 1)],
    [0, 1].map(index => ({ index, of: 2 })),
  )
})
