import t from 'tap'
import { hasBalancedDirections } from '../../src/oauth/directional-controls.ts'

const opening = { embedding: ['\u202a', '\u202b', '\u202d', '\u202e'], isolate: ['\u2066', '\u2067', '\u2068'] }
const closing = { embedding: '\u202c', isolate: '\u2069' }

t.test('a text is balanced if each control is closed by its own kind, the inner before the outer', async t => {
  for (const kind of ['embedding', 'isolate'] as const) {
    const other = kind === 'embedding' ? 'isolate' : 'embedding'
    for (const open of opening[kind]) {
      t.equal(hasBalancedDirections(`a${open}b${closing[kind]}c`), true)
      t.equal(hasBalancedDirections(`a${open}b`), false)
      t.equal(hasBalancedDirections(`a${open}b${closing[other]}`), false)
      t.equal(hasBalancedDirections(`${open}${open}${closing[kind]}`), false)
      t.equal(hasBalancedDirections(`${closing[kind]}${open}`), false)
      t.equal(hasBalancedDirections(`${open}\u2066a${'\u2069'}${closing[kind]}`), true)
      t.equal(hasBalancedDirections(`${open}\u202aa\u202c${closing[kind]}`), true)
    }
  }
  t.equal(hasBalancedDirections('\u2067\u202a\u2069\u202c'), false, 'the outer is closed before the inner')
})

t.test('marks and letters of right-to-left scripts need no closing', async t => {
  for (const text of ['', 'Shop', '\u05d0\u05d1', 'a\u200f\u200e\u061cb']) t.equal(hasBalancedDirections(text), true)
})
