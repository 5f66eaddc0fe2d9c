import { STATUS_CODES } from 'node:http'
import t from 'tap'
import { gatewayErrors, oauthErrors } from '../../src/errors.ts'
import { codeOf, readPages, rowsOf } from './markdown.ts'

const docs = readPages('docs')

t.test('the documentation has every error of the gateway with its status and its sentence, and no other', async t => {
  const documented = rowsOf(docs, '`code`', 'Status', '`detail`').map(([code, status, detail]) => [
    ...codeOf(code),
    Number(status),
    detail,
  ])

  t.same(
    documented,
    Object.entries(gatewayErrors).map(([code, { status, detail }]) => [code, status, detail]),
  )
})

t.test('the documentation has every OAuth error with its status, and no other', async t => {
  const documented = rowsOf(docs, '`error`', 'Status', 'When').map(([code, status]) => [
    ...codeOf(code),
    Number(status),
  ])

  t.same(documented, Object.entries(oauthErrors))
})

t.test('a problem document without a type of its own is titled as its status is (RFC 9457 section 4.2.1)', async t => {
  // Node still has the older name of 413; RFC 9110 section 15.5.14 calls it so.
  const phrases: Readonly<Record<number, string | undefined>> = { ...STATUS_CODES, 413: 'Content Too Large' }

  for (const [code, { status, title }] of Object.entries(gatewayErrors)) t.equal(title, phrases[status], code)
})
