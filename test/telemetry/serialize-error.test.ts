import t from 'tap'
import { operationLabel } from '../../src/gateway/operation.ts'
import { serializeError } from '../../src/telemetry/serialize-error.ts'

t.test('a programming error shows its place in our code, and not the rest of the stack', async t => {
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

t.test('an error from other code, or a thrown value that is not an error, is described as far as possible', async t => {
  t.same(serializeError('a text'), { type: 'string', message: 'a text' })
  t.same(serializeError(new RangeError('one', { cause: new Error('another') })), {
    type: 'RangeError',
    message: 'one: another',
  })
})
