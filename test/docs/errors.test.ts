import { STATUS_CODES } from 'node:http'
import t from 'tap'
import { gatewayErrors } from '../../src/errors.ts'

t.test('a problem document without a type of its own is titled as its status is (RFC 9457 section 4.2.1)', async t => {
  // Node still has the older name of 413; RFC 9110 section 15.5.14 calls it so.
  const phrases: Readonly<Record<number, string | undefined>> = { ...STATUS_CODES, 413: 'Content Too Large' }

  for (const [code, { status, title }] of Object.entries(gatewayErrors)) t.equal(title, phrases[status], code)
})
