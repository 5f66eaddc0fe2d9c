import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'

/** Each of these hides a fault: the value is more than the assertion says, or the assertion says nothing. */
const planted = {
  'a scope that was withdrawn': "t.match('read write', 'read')",
  'a scope that was withdrawn, in a body': "t.match({ body: { scope: 'read write' } }, { body: { scope: 'read' } })",
  'an empty list': 't.match({ dpop: [1] }, { dpop: [] })',
  'an empty object': 't.match({ fields: { a: 1 } }, { fields: {} })',
  'a count of items': 't.match([{ a: 1 }, { b: 2 }], [{ a: 1 }])',
  'a number that is a text': "t.match({ status: '200' }, { status: 200 })",
  'null in the place of nothing': 't.match({ plan: null }, { plan: undefined })',
  'a part of a message': "t.throws(() => { throw new Error('too much') }, { message: 'too' })",
  'a field of an object that must not be there': "t.notMatch({ a: 'secret', b: 1 }, { a: 'secret', b: 2 })",
  'an empty text that must not be there': "t.notMatch('secret', '')",
} as const

const right = `
  t.match({ a: 1, b: 'read write', c: ['x'], d: {}, e: [] }, { b: /^read/, c: ['x'], d: {}, e: [], f: undefined })
  t.match({ a: 1, b: 'text' }, { a: Number, b: String })
  t.notMatch('a text', 'a.text')`

const preload = join(import.meta.dirname, 'plain-process.ts')

/** Runs the assertions in a test file of their own, as the test runner would. @returns whether they passed */
const passes = (file: string): Promise<boolean> =>
  new Promise(resolve =>
    execFile(process.execPath, [`--import=${pathToFileURL(preload)}`, file], error => resolve(error === null)),
  )

const fileOf = (assertions: string): string => `import t from 'tap'\nt.test('planted', async t => {${assertions}})\n`

t.test('t.match accepts what is equal to its pattern, fields that it leaves out aside', async t => {
  const cases = [...Object.values(planted), right]
  const folder = t.testdir(Object.fromEntries(cases.map((code, place) => [`${place}.mjs`, fileOf(code)])))

  for (const [place, [name]] of Object.entries(planted).entries()) {
    t.equal(await passes(join(folder, `${place}.mjs`)), false, name)
  }
  t.equal(await passes(join(folder, `${cases.length - 1}.mjs`)), true)
})
