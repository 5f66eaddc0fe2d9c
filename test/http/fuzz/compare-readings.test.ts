import t from 'tap'
import { compareCut, compareReadings, type Verdict } from './compare-readings.ts'
import type { Message, Reading } from './reading.ts'

const message: Message = {
  method: 'POST',
  target: '/',
  version: '1.1',
  fields: ['Host', 'a'],
  body: 'hello',
  isComplete: true,
  trailers: [],
}

const open = (...messages: readonly Message[]): Reading => ({ messages, end: { is: 'open' } })
const closed = (...messages: readonly Message[]): Reading => ({ messages, end: { is: 'closed' } })
const refused = (reason: string, ...messages: readonly Message[]): Reading => ({
  messages,
  end: { is: 'refused', reason },
})

const partial: Message = { ...message, body: 'hel', isComplete: false }
const closing: Message = { ...message, fields: ['Connection', 'close'] }

const allowed: readonly (readonly [what: string, ours: Reading, node: Reading, is: Verdict['is']])[] = [
  ['both read one message', open(message), open(message), 'same'],
  ['both read the beginning of a body', open(partial), open(partial), 'same'],
  ['both refuse what follows', refused('bare-cr-or-lf', message), refused('HPE_CR_EXPECTED', message), 'both-refuse'],
  [
    'both refuse the body, one of them a piece later',
    refused('bad-chunk-size', partial),
    refused('HPE_STRICT', { ...partial, body: 'hello' }),
    'both-refuse',
  ],
  [
    'Node accepts two Host fields',
    refused('two-hosts'),
    open({ ...message, fields: ['Host', 'a', 'Host', 'b'] }),
    'we-refuse',
  ],
  ['our server closes when it is asked to', closed(closing), open(closing, message), 'we-close'],
  ['our server waits for a line end', open(), refused('HPE_INVALID_METHOD'), 'node-refuses-first'],
  ['Node waits for the end of a body', refused('bad-trailer', partial), open(partial), 'we-refuse-first'],
  ['Node waits for a line end', refused('bad-method'), open(), 'we-refuse-first'],
]

const violations: readonly (readonly [what: string, ours: Reading, node: Reading])[] = [
  ['another method', open({ ...message, method: 'GET' }), open(message)],
  ['another target', open({ ...message, target: '/a' }), open(message)],
  ['another version', open({ ...message, version: '1.0' }), open(message)],
  ['another field name', open({ ...message, fields: ['host', 'a'] }), open(message)],
  ['one field more', open({ ...message, fields: ['Host', 'a', 'b', 'c'] }), open(message)],
  ['another body', open({ ...message, body: 'hell' }), open(message)],
  ['a message more', open(message, message), open(message)],
  ['a message less', open(message), open(message, message)],
  ['a message that Node refuses', open(message), refused('HPE_STRICT')],
  ['the beginning of a message that Node refuses', open(partial), refused('HPE_STRICT')],
  ['the end of a message that Node does not see', open(message), open(partial)],
  ['a message that does not end', open({ ...message, isComplete: false }), open(message)],
  [
    'another beginning of a refused body',
    refused('bare-cr-or-lf', partial),
    refused('HPE_STRICT', { ...partial, body: 'x' }),
  ],
  ['a refusal that no row names', refused('bad-field-name'), open(message)],
  ['a refusal for a fault that is not there', refused('two-hosts'), open(message)],
  ['a refused body that Node reads to its end', refused('bad-trailer', partial), open(message)],
  ['a refused head of a message whose body Node waits for', refused('bad-trailer'), open(partial)],
  ['a refused message behind a good one', refused('two-hosts', message), open(message, message)],
  ['a connection that the client did not ask to close', closed(message), open(message, message)],
  ['a connection that stays open though Node closes it', open(closing), closed(closing)],
  ['an upgrade of our own', { messages: [message], end: { is: 'upgraded', rest: '' } }, open(message)],
  [
    'other bytes behind an upgrade',
    { messages: [message], end: { is: 'upgraded', rest: 'a' } },
    { messages: [message], end: { is: 'upgraded', rest: 'ab' } },
  ],
]

for (const [what, ours, node, is] of allowed) {
  t.test(`allowed: ${what}`, async t => t.equal(compareReadings(ours, node, '').is, is))
}

for (const [what, ours, node] of violations) {
  t.test(`a violation: ${what}`, async t => t.equal(compareReadings(ours, node, '').is, 'violation'))
}

t.test('bytes that are cut are read as the whole', async t => {
  t.equal(compareCut(open(message), open(message)).is, 'same')
  t.equal(
    compareCut(refused('bare-cr-or-lf', partial), refused('bare-cr-or-lf', { ...partial, body: 'he' })).is,
    'same',
  )
  for (const cut of [
    open(),
    open(message, message),
    closed(message),
    open({ ...message, body: 'hell' }),
    open({ ...message, isComplete: false }),
    refused('bare-cr-or-lf', message),
  ]) {
    t.equal(compareCut(open(message), cut).is, 'violation')
  }
  t.equal(compareCut(refused('bare-cr-or-lf'), refused('control-byte')).is, 'violation')
})
