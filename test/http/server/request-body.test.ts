import t from 'tap'
import { InvalidMessageError } from '../../../src/http/message/invalid-message.ts'
import { RequestBody } from '../../../src/http/server/request-body.ts'

/** A body, what it asked of its connection, and what its reader got. */
const open = (framing: ConstructorParameters<typeof RequestBody>[1]) => {
  const asked: string[] = []
  const got: string[] = []
  const owner = {
    readBody: () => void asked.push('read'),
    pauseBody: () => void asked.push('pause'),
    discardBody: () => void asked.push('discard'),
    detectReset: () => void asked.push('detect reset'),
  }
  const sink = { onData: (piece: Buffer) => void got.push(String(piece)), onEnd: () => void got.push('end') }
  return { body: new RequestBody(owner, framing), asked, got, sink }
}

t.test('a body with a length takes so many bytes, and leaves what follows', async t => {
  const { body, got, sink } = open({ by: 'length', bytes: 5 })
  body.read(sink)

  t.equal(body.take(Buffer.from('he')), 2)
  t.notOk(body.isComplete)
  t.equal(body.take(Buffer.from('lloGET /')), 3)
  t.ok(body.isComplete)
  t.same(got, ['he', 'llo', 'end'])
})

t.test('a body in chunks is taken out of them, and leaves what follows', async t => {
  const { body, got, sink } = open({ by: 'chunks' })
  body.read(sink)
  const bytes = '5\r\nhello\r\n0\r\nX-A: 1\r\n\r\n'

  t.equal(body.take(Buffer.from(`${bytes}GET /`)), bytes.length)
  t.same(got, ['hello', 'end'])
  t.equal(body.lengthBytes, undefined)
})

t.test('broken chunks are refused', async t => {
  const { body, sink } = open({ by: 'chunks' })
  body.read(sink)

  t.throws(() => body.take(Buffer.from('zz\r\n')), InvalidMessageError)
})

t.test('the connection is asked once for each change of what the reader wants', async t => {
  const { body, asked, sink } = open({ by: 'length', bytes: 5 })
  t.ok(body.isPaused, 'it is not read yet')
  body.read(sink)
  body.resume()
  body.pause()
  body.pause()
  body.resume()

  t.same(asked, ['read', 'pause', 'read'])
})

t.test('a body that is discarded is read on, and its reader gets nothing of it', async t => {
  const { body, asked, got, sink } = open({ by: 'length', bytes: 5 })
  body.read(sink)
  body.take(Buffer.from('he'))
  body.pause()
  body.discard()
  body.take(Buffer.from('llo'))

  t.same(asked, ['read', 'pause', 'discard', 'read'])
  t.same(got, ['he'])
  t.ok(body.isComplete)
})

t.test('nothing is asked for a body that is complete', async t => {
  const { body, asked, sink } = open({ by: 'length', bytes: 2 })
  body.read(sink)
  body.take(Buffer.from('he'))
  body.pause()
  body.resume()
  body.discard()

  t.same(asked, ['read'])
})
