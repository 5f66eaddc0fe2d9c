import t from 'tap'
import { toTable } from '../../src/cli/table.ts'

const rows = [
  ['ID', 'NAME', 'REASON'],
  ['shop', 'a name of some length', 'a reason that goes on and on'],
]

t.test('columns are as wide as their widest cell', t => {
  t.same(toTable(rows), [
    'ID    NAME                   REASON',
    'shop  a name of some length  a reason that goes on and on',
  ])
  t.end()
})

t.test('if the table is wider than the terminal, the widest columns are cut', t => {
  t.same(toTable(rows, 45), ['ID    NAME                REASON', 'shop  a name of some le…  a reason that goe…'])
  t.end()
})

t.test('a column keeps at least twelve characters', t => {
  t.same(toTable(rows, 3)[1], 'shop  a name of s…  a reason th…')
  t.end()
})
