import t from 'tap'
import { OAuthError } from '../../../src/errors.ts'
import { parseForm } from '../../../src/oauth/forms/form.ts'
import type { OAuthRequest } from '../../../src/oauth/protocol.ts'
import { emptyRequest } from '../support/authorization-server.ts'

const parse = (changes: Partial<OAuthRequest>) => parseForm({ ...emptyRequest, ...changes })

const refused = (changes: Partial<OAuthRequest>): string => {
  try {
    parse(changes)
  } catch (error) {
    if (error instanceof OAuthError) return `${error.status} ${error.code}`
  }
  return 'accepted'
}

t.test('a body that is not form-encoded is an invalid_request (RFC 6749 section 3.2; checklist 2)', async t => {
  for (const contentType of ['application/json', 'multipart/form-data; boundary=x', 'text/plain', '', undefined]) {
    t.equal(refused({ contentType, body: 'grant_type=client_credentials' }), '400 invalid_request', String(contentType))
  }
})

t.test(
  'a charset parameter and another case of the media type are accepted (RFC 6749 section 3.2; checklist 2)',
  async t => {
    const form = parse({ contentType: 'Application/X-WWW-Form-URLEncoded ; charset=UTF-8', body: 'a=1' })

    t.equal(form.get('a'), '1')
  },
)

t.test(
  'a parameter sent twice is an invalid_request, in the body or once in each place (RFC 6749 section 3.2; checklist 3)',
  async t => {
    t.equal(refused({ body: 'scope=a&scope=a' }), '400 invalid_request')
    t.equal(refused({ body: 'scope=a&sc%6Fpe=b' }), '400 invalid_request', 'also with another encoding')
    t.equal(refused({ body: 'scope=&scope=b' }), '400 invalid_request', 'also if one value is empty')
    t.equal(refused({ body: 'scope=a', query: 'scope=a' }), '400 invalid_request')
    t.equal(refused({ body: 'scope=a', query: 'scopes=a' }), 'accepted')
  },
)

t.test('resource may be repeated (RFC 6749 section 3.2; checklist 3)', async t => {
  const form = parse({ body: 'resource=https%3A%2F%2Fa.example&resource=https%3A%2F%2Fb.example' })

  t.same(form.resources, ['https://a.example', 'https://b.example'])
})

t.test(
  'an empty parameter counts as absent, an unknown one is ignored (RFC 6749 section 3.2; checklist 4)',
  async t => {
    const form = parse({ body: 'scope=&colour=green&flag' })

    t.equal(form.get('scope'), undefined)
    t.equal(form.get('flag'), undefined)
    t.equal(form.get('grant_type'), undefined)
  },
)

t.test(
  'a secret in the query string is an invalid_request that does not repeat it (RFC 6749 section 2.3.1; checklist 5)',
  async t => {
    for (const name of ['client_secret', 'code', 'refresh_token', 'client_assertion', 'token', 'c%6Fde']) {
      t.equal(refused({ query: `${name}=s3cr3t`, body: 'a=1' }), '400 invalid_request', name)
    }
    t.throws(() => parse({ query: 'code=s3cr3t' }), { message: /^(?!.*s3cr3t)/ })
  },
)

t.test('a parameter that is only in the query does not count', async t => {
  t.equal(parse({ query: 'grant_type=client_credentials' }).get('grant_type'), undefined)
})

t.test('an invalid percent sequence or bytes that are not UTF-8 are an invalid_request', async t => {
  for (const body of ['a=%', 'a=%2', 'a=%zz', 'a=%ff', '%ff=a', 'a=%c0%80']) {
    t.equal(refused({ body }), '400 invalid_request', body)
  }
  t.equal(parse({ body: 'a=%C3%A9+b%2B' }).get('a'), 'é b+')
})

t.test('more than a hundred parameters in a body or in a query are an invalid_request', async t => {
  const pairs = (count: number): string => Array.from({ length: count }, (_, nth) => `p${nth}=1`).join('&')

  t.equal(refused({ body: pairs(100) }), 'accepted')
  t.equal(refused({ body: pairs(101) }), '400 invalid_request')
  t.equal(refused({ body: 'a=1', query: pairs(100) }), 'accepted')
  t.equal(refused({ body: 'a=1', query: pairs(101) }), '400 invalid_request')
})

t.test('of two faults always the same one is reported: a malformed parameter before a repeated one', async t => {
  const told = (changes: Partial<OAuthRequest>): string => {
    try {
      parse(changes)
    } catch (error) {
      if (error instanceof OAuthError) return error.message
    }
    return 'accepted'
  }

  t.equal(told({ body: 'a=1&a=2&b=%zz' }), 'A parameter is not form-encoded UTF-8')
  t.equal(told({ body: 'a=1&a=2', query: 'code=1' }), 'Secrets and tokens belong in the body, not in the URL')
  t.equal(told({ body: 'a=%zz', query: 'code=1' }), 'A parameter is not form-encoded UTF-8')
  t.equal(told({ body: 'a=1&a=2' }), 'A parameter was sent more than once')
  t.equal(told({ body: 'a=1&'.repeat(101) }), 'More than 100 parameters were sent')
})

t.test('of a repeated audience the last one that is not empty counts', async t => {
  t.equal(parse({ body: 'audience=a&audience=b&audience=' }).get('audience'), 'b')
})

t.test('the body is parsed once, however often its parameters are read', async t => {
  let timesRead = 0
  const form = parseForm({
    ...emptyRequest,
    get body() {
      timesRead++
      return 'a=1&resource=r'
    },
  })

  t.same([form.get('a'), form.get('b'), form.get('a'), form.resources], ['1', undefined, '1', ['r']])
  t.equal(timesRead, 1)
})
