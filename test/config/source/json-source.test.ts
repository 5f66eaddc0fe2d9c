import t from 'tap'
import { stringify } from 'yaml'
import { readPlainJson } from '../../../src/config/source/json-source.ts'
import { acceptedConfig, client, problemsOf, publishing, token } from '../support.ts'

/** Data with every type of JSON. */
const data = {
  text: 'a"\\/\n\u00e9\u2028',
  list: [1, -2.5, 1e3, true, false, [], {}],
  empty: '',
  deep: { a: { b: 'c' } },
}

t.test('JSON is read as JSON.parse reads it, however it is laid out', async t => {
  for (const indent of [0, 1, 4]) t.same(readPlainJson(` ${JSON.stringify(data, null, indent)}\r\n`), data)
  t.same(readPlainJson('{"a":"\\u0061\\ud83d\\ude00"}'), { a: 'a\u{1f600}' })
  t.ok(Object.hasOwn(readPlainJson('{"a":null}') as object, 'a'))
})

t.test('text that is not plain JSON, or has a duplicate key, is left to the YAML reader', async t => {
  for (const text of [
    '',
    '[1]',
    '{"a":1',
    '{"a":1}}',
    '{"a":1} b',
    '{"a":1,}',
    '{"a":[1,]}',
    '{a: 1}',
    "{'a': 1}",
    '{"a": 01}',
    '{"a": +1}',
    '{"a": .5}',
    '{"a": NaN}',
    '{"a":"\t"}',
    '{"a":"\\x"}',
    '{"a":1 # one\n}',
    '{"a":1,"a":2}',
    '{"a":{"__proto__":1,"__proto__":2}}',
    `{"a":${'['.repeat(200)}${']'.repeat(200)}}`,
  ])
    t.equal(readPlainJson(text), undefined, text.slice(0, 30))
})

t.test('JSON and YAML with the same data give the same configuration', async t => {
  const file = { ...publishing(token), clients: [client({ client_secret: `\${NONE:-shop-secret}` })] }

  t.same(await acceptedConfig(t, JSON.stringify(file)), await acceptedConfig(t, stringify(file)))
})

t.test('a key that every object has is a key like any other, in JSON as in YAML', async t => {
  const names = ['__proto__', 'constructor', 'toString', 'valueOf']
  const texts = [
    ...names.map(name => `{"${name}": {"rate": "1/1second"}}`),
    ...names.map(
      name => `{"plans": {"gold": {"rate": "1/1second"}, "${name}": {"rate": "1/1second"}}, "clients": [{}]}`,
    ),
    ...names.map(name => `{"scopes": {"${name}": {"en": "It"}}, "clients": [{"${name}": {}}]}`),
  ]

  for (const text of texts)
    t.same(await problemsOf(t, text), await problemsOf(t, `# YAML\n${text}`).then(oneLineUp), text)
})

/** Problems with the line numbers that they have without the line that makes the text YAML. */
const oneLineUp = (problems: readonly string[]): readonly string[] =>
  problems.map(problem => problem.replace(/^2:/, '1:'))

t.test('a problem in JSON is reported with line and column', async t => {
  const file = JSON.stringify({ ...publishing(token), workers: 'many', clients: [client({ scope: 7 })] }, null, 2)

  t.match(await problemsOf(t, file), [/^\d+:14: workers: /, /^\d+:16: clients\[0\]\.scope: /])
  t.match(await problemsOf(t, '{\n  "workers": 1,\n  "workers": 2\n}\n'), [/^3:3: this key occurs twice/])
  t.match(await problemsOf(t, '{\n  "clients": [{ "client_secret_file": "none" }]\n}\n'), [
    /^2:15: clients\[0\]\.client_id: missing/,
    /^2:39: clients\[0\]\.client_secret_file: does not name a readable file/,
  ])
})

t.test('only operations whose paths have the same literal beginning are compared with each other', async t => {
  const get = (path: string) => ({ method: 'GET', path, upstream: 'items' })
  const many = Array.from({ length: 300 }, (_, nth) => get(`/r${nth}/*/items`))

  t.same(await problemsOf(t, publishing(...many)), [])
  t.match(await problemsOf(t, publishing(...many, get('/r7/**'))), [/GET \/r7\/\*\* matches the same requests as/])
  t.match(await problemsOf(t, publishing(...many, get('/r7/*/*'))), [/GET \/r7\/\*\/\* matches the same requests as/])
})
