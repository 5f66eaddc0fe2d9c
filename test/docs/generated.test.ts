import t from 'tap'
import { regenerate, tables, tablesIn } from './generate/tables.ts'
import { readPages, toPage } from './markdown.ts'

const pages = readPages('docs')

t.test('every table that the code has is on a page, once', async t => {
  t.same(pages.flatMap(({ text }) => tablesIn(text)).toSorted(), Object.keys(tables).sort())
})

for (const { path, text } of pages.filter(({ text }) => tablesIn(text).length > 0)) {
  t.test(`the tables of ${path} are as the code has them; if not, run npm run docs`, async t => {
    t.equal(text, await regenerate(text))
  })

  t.test(`no cell of ${path} is empty`, async t => {
    const rows = toPage(path, text).tables.flatMap(({ rows }) => rows)

    t.same(
      rows.filter(cells => cells.some(cell => cell === '')),
      [],
    )
  })
}
