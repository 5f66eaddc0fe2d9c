import t from 'tap'
import type { EncodedConfig, PrimaryMessage } from '../../../src/cluster/messages.ts'
import { createVote } from '../../../src/cluster/primary/vote.ts'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'

/** The content of the proposed configuration does not matter here. */
const parcel: EncodedConfig = { config: {}, clients: createClients([]).pack() }

const startAgreement = (...names: readonly string[]) => {
  const told: PrimaryMessage[] = []
  const agreement = createVote({ names: () => names, tell: message => void told.push(message) })
  return { agreement, told }
}

t.test('a configuration is agreed on when every worker could build it', async t => {
  const { agreement, told } = startAgreement('one', 'two')
  const reached = agreement.begin(1, parcel)
  t.match(told, [{ type: 'propose', id: 1, config: parcel }])

  agreement.record('one', 1, undefined)
  agreement.record('two', 1, undefined)

  t.equal(await reached, undefined)
})

t.test(
  'the first worker that cannot build it gives the reason, and the primary does not wait for the others',
  async t => {
    const { agreement } = startAgreement('one', 'two', 'three')
    const reached = agreement.begin(1, parcel)

    agreement.record('one', 1, undefined)
    agreement.record('two', 1, 'no keys')

    t.equal(await reached, 'no keys')
  },
)

t.test('an answer about an earlier configuration is ignored', async t => {
  const { agreement } = startAgreement('one')
  const earlier = agreement.begin(1, parcel)
  agreement.record('one', 1, 'no keys')
  await earlier
  const reached = agreement.begin(2, parcel)

  agreement.record('one', 1, 'no keys')
  agreement.record('one', 2, undefined)

  t.equal(await reached, undefined)
})

t.test('the primary does not wait for a worker that has exited', async t => {
  const { agreement } = startAgreement('one', 'two')
  const reached = agreement.begin(1, parcel)

  agreement.record('one', 1, undefined)
  agreement.drop('two')

  t.equal(await reached, undefined)
})

t.test('a configuration is agreed on at once if no worker serves', async t => {
  t.equal(await startAgreement().agreement.begin(1, parcel), undefined)
})
