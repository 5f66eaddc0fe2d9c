import t from 'tap'
import { duration, figure, percent } from '../../../src/cli/top/format-number.ts'
import { mostSkipped } from '../../../src/cli/top/layout.ts'
import { part, toText } from '../../../src/cli/top/styled-line.ts'
import { durations, pageOf, requests, viewOf } from './support.ts'

const names = Array.from({ length: 200 }, (_, index) => `Grouping-${String(index).padStart(3, '0')}`)
const many = viewOf('', names.map((name, index) => requests(name, 1000 - index)).join(''))

t.test('every number is short, whatever its size', async t => {
  const values = [
    0,
    0.04,
    0.44,
    9.94,
    9.96,
    37.2,
    999.4,
    999.6,
    1234,
    45_678,
    1.5e7,
    2e18,
    1e30,
    -3,
    Number.NaN,
    Infinity,
  ]

  t.same(values.map(figure), [
    '0',
    '<0.1',
    '0.4',
    '9.9',
    '10',
    '37',
    '999',
    '1k',
    '1.2k',
    '46k',
    '15M',
    '2E',
    '1e+30',
    '-3',
    '-',
    '-',
  ])
  t.ok(Array.from({ length: 330 }, (_, index) => figure(9.996 * 10 ** (index - 20))).every(text => text.length <= 7))
})

t.test('a share is shown in percent, and a share of zero requests as a dash', async t => {
  t.same([0, 0.0004, 0.025, 1, 0 / 0].map(percent), ['0', '<0.1', '2.5', '100', '-'])
})

t.test('a duration is shown in the unit that fits its size', async t => {
  const texts = [0.00035, 0.0021, 0.045, 0.9999, 1.5, 30].map(sec => duration({ sec, isBeyond: false }))

  t.same(texts, ['350us', '2.1ms', '45ms', '1s', '1.5s', '30s'])
  t.equal(duration({ sec: 30, isBeyond: true }), '>30s')
  t.equal(duration(undefined), '-')
})

t.test('without a height limit every grouping is shown, below the sum of all groupings', async t => {
  const page = pageOf(many)

  t.match(page[3], /^GROUPING +REQ\/S +4XX% +5XX% +P50 +P99 +REFUSED\/S +IN FLIGHT$/)
  t.match(page[4], /^\(all\) +180k /)
  t.match(
    page.slice(5, 205),
    names.map(name => new RegExp(`^${name} `)),
  )
})

t.test('the page fits the screen, and its last line counts the rows that are hidden', async t => {
  const page = pageOf(many, { columns: 80, rows: 24 })

  t.equal(page.length, 24)
  t.match(page.at(-1), /^1 to 18 of 200; arrow and page keys show others$/)
  t.match(page.at(-2), /^Grouping-017 /)
})

t.test('scrolling reaches the last rows, and the screen remains full', async t => {
  const size = { columns: 80, rows: 24 }
  const skipped = mostSkipped({ title: '', view: many, trouble: undefined, skipped: 0 }, size)
  const page = pageOf(many, size, { skipped })

  t.equal(skipped, 182)
  t.match(page.at(-1), /^183 to 200 of 200/)
  t.match(page.at(-2), /^Grouping-199 /)
})

t.test('no line is wider than the terminal, and the name and its rate are the last columns to be removed', async t => {
  for (const columns of [1, 5, 10, 20, 30, 40, 60, 80]) {
    const page = pageOf(many, { columns, rows: 24 })
    t.same(
      page.filter(line => line.length > columns),
      [],
      `${columns} columns`,
    )
  }
  t.match(pageOf(many, { columns: 20, rows: 24 })[3], /^GROUPING +REQ\/S$/)
  t.match(pageOf(many, { columns: 40, rows: 24 })[3], /^GROUPING +REQ\/S +5XX% +P99$/)
})

t.test('a long name is cut before a number is removed', async t => {
  const view = viewOf('', requests('An-extraordinarily-long-name-of-a-grouping', 7))

  t.match(pageOf(view, { columns: 24, rows: 24 })[5], /^An-extraordinari~ +7$/)
})

t.test('the page never has more lines than the screen, whatever its height', async t => {
  const store = 'sidegate_store_up{store="redis"} 1\n'
  const upstreams = names.map(
    name =>
      `sidegate_upstream_pending_requests{upstream="${name}"} 1\nsidegate_upstream_errors_total{upstream="${name}",reason="connect"} 1\n`,
  )
  const view = viewOf('', requests('A', 1) + requests('B', 1) + store + upstreams.join(''))

  for (let rows = 1; rows <= 30; rows++) t.ok(pageOf(view, { columns: 80, rows }).length <= rows, `${rows} rows`)
  t.match(pageOf(view, { columns: 80, rows: 30 }).join('\n'), /\nUPSTREAM /)
})

t.test('the page reports an unavailable store and the rate of decisions made without it', async t => {
  const view = viewOf(
    '',
    'sidegate_store_up{store="redis"} 0\nsidegate_plan_decisions_total{plan="p",grouping="A",decision="local"} 12\n',
  )

  t.match(pageOf(view)[2], /^store redis DOWN .* {2}decided without store 12\/s$/)
})

t.test('the page reports a refused configuration', async t => {
  const reload = (value: number): string => `sidegate_config_last_reload_successful ${value}\n`

  t.match(pageOf(viewOf('', reload(0)))[2], /^the last configuration was refused/)
  t.notMatch(pageOf(viewOf('', reload(1))).join(), /refused/)
})

t.test('before the second scrape there is nothing to compare', async t => {
  t.same(pageOf(undefined), ['title', 'measuring ...'])
  t.same(pageOf(undefined, undefined, { trouble: 'it does not answer' }), ['title', 'it does not answer; trying again'])
})

t.test('latencies are shown in their columns', async t => {
  const view = viewOf('', requests('A', 100) + durations('A', { 0.001: 50, 0.01: 100, '+Inf': 100 }))

  t.match(pageOf(view)[5], /^A +100 +0 +0 +1ms +9\.8ms +0 +0$/)
})

t.test('colours are used only if the terminal has them, and do not change the width', async t => {
  const line = [part('ab', 'bad'), part('cd')]

  t.equal(toText(line, 3, true), '\u001b[1;31mab\u001b[mc')
  t.equal(toText(line, 3, false), 'abc')
})
