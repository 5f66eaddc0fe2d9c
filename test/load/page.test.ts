/** The load tests accept the calls and have the scenarios that the pages show. No load test runs here. */
import t from 'tap'
import { codeOf, readPage, readPages, rowsOf } from '../docs/markdown.ts'
import { parseCompareOptions } from './compare/options.ts'
import { parseLimitsOptions } from './limits/options.ts'
import { scenarios as limitsScenarios } from './limits/scenario.ts'
import { chooseForms } from './outages/bench-outages.ts'
import { Programs } from './program.ts'
import { parseRestOptions } from './rest/bench-rest.ts'
import { parseRounds } from './rounds.ts'
import { createScenarios } from './scenario.ts'
import { parseAttackOptions } from './stress/bench-attack.ts'
import { parseStreamsOptions } from './stress/bench-streams.ts'

const page = readPage('test/load/README.md')
const speedScenarios = createScenarios(new Programs(), '').map(({ name }) => name)

const parsers: Readonly<Record<string, (args: readonly string[]) => unknown>> = {
  compare: parseCompareOptions,
  limits: parseLimitsOptions,
  outages: chooseForms,
  attack: parseAttackOptions,
  streams: parseStreamsOptions,
  rest: parseRestOptions,
}

/** @throws TypeError as the program says what is wrong with its arguments */
const parse = (args: readonly string[]): unknown => {
  const [first = '', ...rest] = args
  const parser = parsers[first]
  if (parser) return parser(rest)
  const options = parseRounds(args)
  const unknown = options?.names.find(name => !speedScenarios.includes(name))
  if (unknown !== undefined) throw new TypeError(`unknown: ${unknown}`)
  return options
}

t.test('the bench takes every call that a page shows', async t => {
  const calls = [page, readPage('README.md'), readPage('CHANGELOG.md'), ...readPages('docs')].flatMap(({ text }) =>
    [...text.matchAll(/npm run bench(?: --((?: [\w./-]+)+))?/g)].map(([, args = '']) => args.trim()),
  )

  t.ok(calls.length > 10)
  for (const call of calls) t.doesNotThrow(() => parse(call === '' ? [] : call.split(' ')), call)
})

t.test('the page has every row, scenario and form that can be chosen, and no other', async t => {
  const named = (...headings: readonly string[]): readonly string[] =>
    rowsOf(page, ...headings).flatMap(([names]) => codeOf(names))

  t.same(named('Row', 'What serves', 'The load').toSorted(), speedScenarios.toSorted())
  t.same(named('Scenario', 'Load', 'Fault').toSorted(), limitsScenarios.map(({ name }) => name).toSorted())
  t.same(
    named('Form', 'Fault of Redis', 'It is back when').toSorted(),
    chooseForms([])
      .map(({ name }) => name)
      .toSorted(),
  )
})
