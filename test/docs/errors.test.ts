import t from 'tap'
import { gatewayErrors, oauthErrors } from '../../src/errors.ts'
import { codeOf, readPage, rowsOf } from './markdown.ts'

const readme = readPage('README.md')

t.test('the README has every error of the gateway with its status and its sentence, and no other', async t => {
  const documented = rowsOf(readme, '`code`', 'Status', '`detail`').map(([code, status, detail]) => [
    ...codeOf(code),
    Number(status),
    detail,
  ])

  t.same(
    documented,
    Object.entries(gatewayErrors).map(([code, { status, detail }]) => [code, status, detail]),
  )
})

t.test('the README has every OAuth error with its status, and no other', async t => {
  const documented = rowsOf(readme, '`error`', 'Status', 'When').map(([code, status]) => [
    ...codeOf(code),
    Number(status),
  ])

  t.same(documented, Object.entries(oauthErrors))
})
