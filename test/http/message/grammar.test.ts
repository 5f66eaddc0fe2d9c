import t from 'tap'
import {
  hasInvalidByte,
  hasListMember,
  isToken,
  nominatedFields,
  trimmedSlice,
} from '../../../src/http/message/grammar.ts'

t.test('a token has letters, digits and the signs of RFC 9110 section 5.6.2 alone', async t => {
  for (let code = 0; code < 256; code++) {
    const character = String.fromCharCode(code)
    t.equal(isToken(character), /[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(character), `${code}`)
  }
  t.notOk(isToken(''))
  t.notOk(isToken('a b'))
})

t.test('a head may hold CR and LF as CRLF only, and no control character but the tab', async t => {
  for (const text of ['a\r\nb', 'a\tb', 'caf\xe9', '']) t.notOk(hasInvalidByte(text), JSON.stringify(text))
  for (const text of ['a\nb', 'a\rb', 'a\r\r\nb', 'a\r\n\nb', 'a\0', 'a\x0b', 'a\x0c', 'a\x1f', 'a\x7f', '\r']) {
    t.ok(hasInvalidByte(text), JSON.stringify(text))
  }
})

t.test('spaces and tabs around a value are cut off, and no other white space is', async t => {
  const trimmed = (text: string): string => trimmedSlice(text, 0, text.length)

  t.equal(trimmed(' \ta b\t '), 'a b')
  t.equal(trimmed(' \t'), '')
  t.equal(trimmed('\xa0a\xa0'), '\xa0a\xa0')
})

t.test('a list has the members between its commas', async t => {
  t.ok(hasListMember('close', 'close'))
  t.ok(hasListMember('keep-alive , close', 'close'))
  t.notOk(hasListMember('closed, x-close', 'close'))
  t.notOk(hasListMember('', 'close'))
})

t.test('fields that Connection names are found, but for the one that frames the body', async t => {
  for (const value of [undefined, '', 'close', 'keep-alive']) t.equal(nominatedFields(value), undefined)
  t.same([...(nominatedFields('close, x-own ,content-length') ?? [])], ['close', 'x-own'])
})
