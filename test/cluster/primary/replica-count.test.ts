import t from 'tap'
import type { PrimaryMessage } from '../../../src/cluster/messages.ts'
import { reportReplicas } from '../../../src/cluster/primary/replica-count.ts'
import { eventually } from '../../support/eventually.ts'

t.test('workers receive the number of pods when it changes, and a new worker receives it at once', async t => {
  const pods = { count: 1, index: 0, looks: 0 }
  const names = ['worker-1']
  const told: PrimaryMessage[] = []
  const counter = {
    count: () => {
      pods.looks++
      return pods.count
    },
    index: () => pods.index,
  }
  const telling = reportReplicas(counter, { names: () => names, tell: message => told.push(message) }, 1)
  t.teardown(telling.close)
  const looked = async (): Promise<void> => {
    const { looks } = pods
    await eventually(() => pods.looks > looks + 2)
  }

  await looked()
  t.same(told, [{ type: 'pods', count: 1, index: 0 }])
  pods.count = 3
  await looked()
  t.equal(told.length, 2)
  pods.index = 2
  await looked()
  t.same(told.at(-1), { type: 'pods', count: 3, index: 2 })
  names.push('worker-2')
  await looked()

  t.equal(told.length, 4)
})
