import t from 'tap'
import { type Parameters, parseParameters } from '../../../src/oauth/forms/parameters.ts'
import type { OAuthRequest } from '../../../src/oauth/protocol.ts'
import { emptyRequest } from '../support/authorization-server.ts'

const parse = (changes: Partial<OAuthRequest>) => parseParameters({ ...emptyRequest, ...changes })

const parametersOf = (query: string): Parameters => {
  const parameters = parse({ method: 'GET', query })
  if (typeof parameters === 'string') throw new Error(parameters)
  return parameters
}

t.test('a duplicate or malformed parameter is a fault and has no value; the others have their values', async t => {
  const parameters = parametersOf('a=1&b=%ff&c=1&c=&d=&e=%31')

  t.same(
    [...parameters.faults],
    [
      ['b', 'malformed'],
      ['c', 'repeated'],
    ],
  )
  t.same(['a', 'b', 'c', 'd', 'e', 'f'].map(parameters.get), ['1', undefined, undefined, undefined, '1', undefined])
})

t.test('a parameter that may be repeated has all its values but the empty and the malformed ones', async t => {
  const parameters = parametersOf('resource=a&resource=&resource=%zz&resource=b')

  t.same(parameters.all('resource'), ['a', 'b'])
  t.equal(parameters.faults.get('resource'), 'malformed')
})

t.test('a malformed name is ignored', async t => {
  t.same([...parametersOf('%=1&=2&%ff=3').faults], [])
})

t.test('the query of a POST counts only for repetition', async t => {
  const parameters = parse({ body: 'a=1&b=2', query: 'b=3&c=4' }) as Parameters

  t.same([...parameters.faults], [['b', 'repeated']])
  t.same(['a', 'b', 'c'].map(parameters.get), ['1', undefined, undefined])
})

t.test('a POST of another content type has no parameters', async t => {
  t.equal(parse({ contentType: 'text/plain', body: 'a=1' }), 'not_form_encoded')
  t.type(parse({ method: 'GET', contentType: 'text/plain', query: 'a=1' }), 'object')
})

t.test('a body or a query with more than a hundred parameters has none', async t => {
  const pairs = (count: number): string => Array.from({ length: count }, (_, nth) => `p${nth}=1`).join('&')

  t.type(parse({ method: 'GET', query: pairs(100) }), 'object')
  t.equal(parse({ method: 'GET', query: pairs(101) }), 'too_many')
  t.type(parse({ body: pairs(100), query: pairs(100) }), 'object')
  t.equal(parse({ body: pairs(101) }), 'too_many')
  t.equal(parse({ body: 'a=1', query: pairs(101) }), 'too_many')
})
