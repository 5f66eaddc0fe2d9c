import t from 'tap'
import { operationLabel } from '../../src/gateway/operation.ts'
import { serializeError } from '../../src/telemetry/serialize-error.ts'

t.test('a bug says where it is in our code, and nothing of the way there', async t => {
  const thrown = (() => {
    try {
      return operationLabel(undefined as never)
    } catch (error) {
      return error
    }
  })()

  const facts = serializeError(Object.assign(thrown as Error, { command: ['GET', 'a-token'] }))

  t.match(facts, { type: 'TypeError', message: /undefined/, at: /^src\/gateway\/operation\.ts:\d+:\d+$/ })
  t.same(Object.keys(facts), ['type', 'message', 'at'])
})

t.test('what was thrown elsewhere, or is no error, is said as far as it can be', async t => {
  t.same(serializeError('a text'), { type: 'string', message: 'a text' })
  t.same(serializeError(new RangeError('one', { cause: new Error('another') })), {
    type: 'RangeError',
    message: 'one: another',
  })
})
