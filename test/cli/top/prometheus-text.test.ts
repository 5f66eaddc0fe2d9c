import t from 'tap'
import { parseExposition, parseSeries } from '../../../src/cli/top/prometheus-text.ts'

t.test('samples map the text of each series to its value', async t => {
  const text = `# HELP a_total Things.
# TYPE a_total counter
a_total 3
a_total{b="c",d="e"} 1.5e+21
up NaN
bucket{le="+Inf"} +Inf
`

  t.same(
    [...parseExposition(text)],
    [
      ['a_total', 3],
      ['a_total{b="c",d="e"}', 1.5e21],
      ['up', Number.NaN],
      ['bucket{le="+Inf"}', Infinity],
    ],
  )
})

t.test('text after a value is ignored', async t => {
  const text = `a_total{b="c"} 3 1700000000000
b_bucket{le="1"} 4 # {trace_id="00"} 0.5
# EOF`

  t.same([...parseExposition(text).values()], [3, 4])
})

t.test('lines that are not samples are skipped', async t => {
  t.equal(parseExposition('<html>\n{}\n\na{b="c 1\na{b="c"}\n').size, 0)
  t.equal(
    parseExposition(`a{b="${'c'.repeat(20e6)}"} 1`).size,
    0,
    'a line that is longer than any real sample is skipped',
  )
})

t.test('a label value may hold any text', async t => {
  const [series = ''] = parseExposition(String.raw`a{b="x} 1 \" \\ y",c="2"} 7`).keys()

  t.same(parseSeries(series), { name: 'a', labels: { b: String.raw`x} 1 " \ y`, c: '2' } })
})

t.test('control characters in a label do not reach the terminal', async t => {
  const hostile = '\u001b]0;title\u0007\u001b[2J\u009b2J\r\u202e日'
  const { labels } = parseSeries(`a{grouping="${hostile}\\n"}`)

  t.equal(labels.grouping, '?]0;title??[2J?2J????')
})
