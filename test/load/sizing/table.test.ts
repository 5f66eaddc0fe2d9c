import t from 'tap'
import { readPage } from '../../docs/markdown.ts'
import { measured } from './figures.ts'
import { toSizingTable } from './table.ts'

t.test('the page about operating Sidegate has the table that the measured figures make', async t => {
  const [, table] =
    /<!-- sizing -->\n([\s\S]*?)\n<!-- \/sizing -->/.exec(readPage('docs/operations/sizing.md').text) ?? []

  t.equal(table, toSizingTable(measured))
})

t.test('a worker that forwards twice as much needs half the cores', async t => {
  const coresOf = (forwarded: number, tokens: number): string | undefined =>
    toSizingTable({ ...measured, forwarded, tokens })
      .split('\n')
      .at(-1)
      ?.split(' | ')[3]

  t.same([coresOf(16_200, 16_200), coresOf(32_400, 32_400)], ['100', '51'])
})
