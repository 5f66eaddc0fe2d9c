import t from 'tap'
import { nextTraceparent, parseTraceparent, parseTracestate } from '../../../src/http/peer/trace-context.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'
const next = (received: string | undefined): string => nextTraceparent(parseTraceparent(received), () => true)

t.test('a trace goes on under a span of our own', async t => {
  for (const flags of ['00', '01', '02', '03']) {
    const made = next(`00-${trace}-${span}-${flags}`)
    t.match(made, new RegExp(`^00-${trace}-[0-9a-f]{16}-${flags}$`))
    t.notMatch(made, new RegExp(span))
  }
})

t.test('undefined flags are not passed on', async t => {
  t.match(next(`00-${trace}-${span}-ff`), /-03$/)
  t.match(next(`00-${trace}-${span}-04`), /-00$/)
})

t.test('of a later version what begins like ours is read, and goes on as ours', async t => {
  for (const received of [`01-${trace}-${span}-01`, `cc-${trace}-${span}-01-more-of-it`, `fe-${trace}-${span}-09-`]) {
    t.match(next(received), new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`), received)
  }
})

t.test('what is no trace context starts a new trace', async t => {
  const broken = [
    undefined,
    '',
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span.toUpperCase()}-01`,
    `00-${trace}-${span}-01-more`,
    `00-${trace}-${span}-01-`,
    `00-${trace}-${span}-1`,
    `00-${trace}-${span}-0x`,
    `00-${trace}-${span}`,
    `00-${trace.slice(1)}-${span}-01`,
    `00-${trace}0-${span}-01`,
    `00_${trace}_${span}_01`,
    ` 00-${trace}-${span}-01`,
    `ff-${trace}-${span}-01`,
    `0-${trace}-${span}-01`,
    `01-${trace}-${span}-01.more`,
    `01-${trace}-${span}-01-a, 01-${trace}-${span}-01`,
    `00-${trace}-${span}-01, 00-${trace}-${span}-01`,
  ]

  for (const received of broken) {
    const made = next(received)
    t.match(made, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/, String(received))
    t.notMatch(made, new RegExp(trace))
  }
})

t.test('a new trace is to be recorded where its id is chosen', async t => {
  const asked: string[] = []
  const made = nextTraceparent(undefined, traceId => asked.push(traceId) === 0)

  t.match(made, new RegExp(`^00-${asked}-[0-9a-f]{16}-00$`))
})

t.test('no two spans are alike, however many are made', async t => {
  const made = new Set(Array.from({ length: 10_000 }, () => next(undefined)))

  t.equal(made.size, 10_000)
})

t.test('what others say of a trace goes on as a list, without what means nothing', async t => {
  const same = ['a=1', 'a=1,b=2', 'rojo=00f067aa0ba902b7', '0a@b*/_-=!x y~', `${'k'.repeat(256)}=${'v'.repeat(100)}`]
  for (const state of same) t.equal(parseTracestate(state), state)

  t.equal(parseTracestate('a=1 \t, b=2,,c=3,'), 'a=1,b=2,c=3')
  t.equal(parseTracestate(', ,'), undefined)
  t.equal(parseTracestate(undefined), undefined)
})

t.test('what is no list of other systems goes no further', async t => {
  const broken = [
    'a',
    'a=',
    '=1',
    'A=1',
    'a =1',
    '-a=1',
    'a=1=2',
    'a=caf\xe9',
    'a=\x7f',
    'a=1\tb',
    'a=1,b',
    'a=1,a=2',
    'a=1;b=2',
    `${'k'.repeat(257)}=1`,
    `a=${'v'.repeat(257)}`,
  ]
  for (const state of broken) t.equal(parseTracestate(state), undefined, state)
})

const members = (count: number, length: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => `k${place}=`.padEnd(length, 'v'))

t.test('a list has at most 32 members', async t => {
  const whole = members(32, 6).join(',')

  t.equal(parseTracestate(whole), whole)
  t.equal(parseTracestate(members(33, 6).join(',')), undefined)
})

t.test('512 characters go on; of more first the long members stay behind, then the last', async t => {
  const fitting = [...members(3, 127), 'last='.padEnd(512 - 3 * 128, 'v')]
  const [long = '', ...short] = [...members(1, 129), ...members(6, 100).slice(1)]

  t.equal(parseTracestate(fitting.join(',')), fitting.join(','))
  t.equal(parseTracestate(`${fitting.join(',')}v`), members(3, 127).join(','), 'one more is too many')
  t.equal(parseTracestate([long, ...short].join(',')), short.join(','))
  t.equal(parseTracestate(members(4, 129).join(',')), undefined)
})
