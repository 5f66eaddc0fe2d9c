import t from 'tap'
import { declaredFraming } from '../../../src/http/message/framing.ts'
import { InvalidMessageError } from '../../../src/http/message/invalid-message.ts'

const framed = (length: string | undefined, coding: string | undefined, versionMinor: 0 | 1 = 1) =>
  declaredFraming({ length, coding, versionMinor })

const reasonOf = (length: string | undefined, coding: string | undefined, versionMinor: 0 | 1 = 1): string => {
  try {
    return framed(length, coding, versionMinor).by
  } catch (error) {
    return error instanceof InvalidMessageError ? error.reason : String(error)
  }
}

t.test('a body is framed by its length or by chunks, or the message has no body', async t => {
  t.same(framed(undefined, undefined), { by: 'nothing' })
  t.same(framed('0', undefined), { by: 'length', bytes: 0 })
  t.same(framed('005', undefined, 0), { by: 'length', bytes: 5 })
  t.same(framed('999999999999999', undefined), { by: 'length', bytes: 999_999_999_999_999 })
  t.same(framed(undefined, 'Chunked'), { by: 'chunks' })
})

t.test('whatever two readers could decide differently is refused', async t => {
  const cases = [
    ...['', '-1', '+1', '1.0', '0x5', '5 5', '5,5', '٥', '1000000000000000'].map(
      length => [length, undefined, 'bad-length'] as const,
    ),
    ...['', 'gzip', 'identity', 'chunked, chunked', 'gzip, chunked', 'chunked;a=b', '"chunked"', 'chunked '].map(
      coding => [undefined, coding, 'bad-coding'] as const,
    ),
    ['0', 'chunked', 'length-and-coding'],
    ['5', 'identity', 'length-and-coding'],
  ] as const

  for (const [length, coding, reason] of cases) t.equal(reasonOf(length, coding), reason, `${length} ${coding}`)
  t.equal(reasonOf(undefined, 'chunked', 0), 'coding-in-http-1.0')
})
