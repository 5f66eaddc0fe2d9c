import t, { type Test } from 'tap'
import { decodeComponent, isFormEncoded, maxPairs, readPairs } from '../../../src/oauth/forms/urlencoded.ts'

/** The result of `decodeURIComponent`, with undefined for its exception. */
const decodedByLanguage = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

const pairsOf = (text: string) => {
  const pairs: (readonly [string | undefined, string | undefined])[] = []
  const fault = readPairs(text, (name, value) => {
    pairs.push([name, value])
    return undefined
  })
  return { pairs, fault }
}

/** The number of calls of `decodeURIComponent`, and of its exceptions, while this runs. */
const countDecoding = (t: Test, act: () => unknown): { calls: number; thrown: number } => {
  const decode = globalThis.decodeURIComponent
  const counts = { calls: 0, thrown: 0 }
  t.teardown(() => {
    globalThis.decodeURIComponent = decode
  })
  globalThis.decodeURIComponent = text => {
    counts.calls++
    try {
      return decode(text)
    } catch (error) {
      counts.thrown++
      throw error
    }
  }
  act()
  globalThis.decodeURIComponent = decode
  return counts
}

/** The same numbers in every run. */
const createRandom = (seed: number) => (below: number) => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

t.test(
  'pairs are returned in their order, also empty and repeated ones; an empty text between ampersands is not a pair',
  async t => {
    t.same(pairsOf('&a=1&&b&=&a=%32=3&c=+%2B&'), {
      pairs: [
        ['a', '1'],
        ['b', ''],
        ['', ''],
        ['a', '2=3'],
        ['c', ' +'],
      ],
      fault: undefined,
    })
    t.same(pairsOf('').pairs, [])
    t.same(pairsOf('&&&').pairs, [])
  },
)

t.test('a malformed half is undefined, and the reader may stop there', async t => {
  t.same(pairsOf('%=1&a=%ff').pairs, [
    [undefined, '1'],
    ['a', undefined],
  ])
  let pairs = 0
  const fault = readPairs('%&'.repeat(32_768), () => {
    pairs++
    return 'malformed'
  })
  t.equal(fault, 'malformed')
  t.equal(pairs, 1)
})

t.test('at most a hundred pairs are read', async t => {
  t.same(pairsOf('a=1&'.repeat(maxPairs)).fault, undefined)
  t.equal(maxPairs, 100)

  for (const text of ['a=1&'.repeat(maxPairs + 1), 'a&&'.repeat(20_000), '%&'.repeat(32_768)]) {
    const { pairs, fault } = pairsOf(text)
    t.equal(pairs.length, maxPairs, text.slice(0, 9))
    t.equal(fault, 'too_many', text.slice(0, 9))
  }
})

t.test('decoding throws no exception, whatever the input', async t => {
  const bad = ['%', '%2', '%zz', '%ff', '%c3', '%c0%80', '%ed%a0%80', '%f5%80%80%80', 'a%C3b', '%e2%82']

  t.equal(countDecoding(t, () => bad.map(decodeComponent)).thrown, 0)
  t.equal(countDecoding(t, () => pairsOf('%&'.repeat(32_768))).calls, 0)
  t.equal(countDecoding(t, () => pairsOf('%ff&'.repeat(16_384))).calls, 0)
})

t.test('it decodes like decodeURIComponent, for every pair of bytes', async t => {
  for (let first = 0; first < 256; first++) {
    for (let second = 0; second < 256; second += 3) {
      const text = [first, second].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')
      if (decodeComponent(text) !== decodedByLanguage(text)) t.fail(text)
    }
  }
})

t.test('it decodes like decodeURIComponent, for random combinations', async t => {
  const random = createRandom(1)
  const parts = [
    'a',
    '%',
    '+',
    '%2',
    '%41',
    '%C3',
    '%a9',
    '%e2%82',
    '%AC',
    '%f0%9f%92%a9',
    '%ed%a0',
    'é',
    '💥',
    '%EF%BB%BF',
  ]

  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: 1 + random(5) }, () => parts[random(parts.length)]).join('')
    if (decodeComponent(text) !== decodedByLanguage(text)) t.fail(text)
  }
  t.equal(decodeComponent('%C3%a9+%F0%9f%92%A9b%2B'), 'é 💩b+')
})

t.test('the media type is case-insensitive and may have parameters', async t => {
  const type = 'application/x-www-form-urlencoded'

  for (const good of [type, `${type}; charset=UTF-8`, ` ${type.toUpperCase()} ;x`]) t.ok(isFormEncoded(good), good)
  for (const bad of ['', undefined, `${type}x`, 'text/plain', `x;${type}`]) t.notOk(isFormEncoded(bad), String(bad))
})
