import t from 'tap'
import type { EncodedConfig, PrimaryMessage } from '../../../src/cluster/messages.ts'
import { createVote } from '../../../src/cluster/primary/vote.ts'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'

/** What is proposed plays no part here. */
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

t.test('the first worker that could not says why, and the others are not waited for', async t => {
  const { agreement } = startAgreement('one', 'two', 'three')
  const reached = agreement.begin(1, parcel)

  agreement.record('one', 1, undefined)
  agreement.record('two', 1, 'no keys')

  t.equal(await reached, 'no keys')
})

t.test('an answer about an earlier configuration counts for nothing', async t => {
  const { agreement } = startAgreement('one')
  const earlier = agreement.begin(1, parcel)
  agreement.record('one', 1, 'no keys')
  await earlier
  const reached = agreement.begin(2, parcel)

  agreement.record('one', 1, 'no keys')
  agreement.record('one', 2, undefined)

  t.equal(await reached, undefined)
})

t.test('a worker that has gone is not waited for', async t => {
  const { agreement } = startAgreement('one', 'two')
  const reached = agreement.begin(1, parcel)

  agreement.record('one', 1, undefined)
  agreement.drop('two')

  t.equal(await reached, undefined)
})

t.test('where nobody serves nobody is asked', async t => {
  t.equal(await startAgreement().agreement.begin(1, parcel), undefined)
})
