/** The alerts: Prometheus's own tool takes them and tries them, and each has its runbook. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'
import { logEvents } from '../../../src/telemetry/log-events.ts'
import { metrics } from '../../../src/telemetry/metrics.ts'
import { codeOf, readPage, readPages, root, rowsOf, withoutBlocks } from '../../docs/markdown.ts'
import { alerts, expressions, folder, recorded, rulesFile } from './rules.ts'

/** @returns what it complains of; empty where it does not */
const promtool = (...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', cwd: folder })
  return status === 0 ? '' : `${stdout}${stderr}`
}

const runbook = readPage('deploy/prometheus/README.md')
const headings = [...runbook.text.matchAll(/^### (\w+)$/gm)].map(([, heading]) => heading)
const sampleNames = new Set(
  Object.values(metrics).flatMap(({ name, kind }) =>
    kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
)

t.test('promtool takes the rules, and has nothing to say of them', async t => {
  t.equal(promtool('check', 'rules', '--lint=all', '--lint-fatal', rulesFile), '')
})

t.test('each alert is raised by what it is for, and not by what is next to it', async t => {
  t.equal(promtool('test', 'rules', 'rules.test.yaml'), '')
})

t.test('no alert is left untried', async t => {
  const tested = z
    .object({
      tests: z.array(
        z.object({
          alert_rule_test: z.array(z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) })),
        }),
      ),
    })
    .parse(parse(readFileSync(join(folder, 'rules.test.yaml'), 'utf8')))
  const raised = tested.tests.flatMap(test => test.alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0))

  t.same([...new Set(raised.map(({ alertname }) => alertname))].sort(), alerts.map(({ alert }) => alert).sort())
})

t.test('each alert says what is wrong, and where its runbook is; every runbook is of an alert', async t => {
  for (const { alert, annotations } of alerts) {
    t.equal(annotations.runbook, `deploy/prometheus/README.md#${alert.toLowerCase()}`)
    t.match(annotations.description, /\.$/, alert)
  }
  t.same(headings.toSorted(), alerts.map(({ alert }) => alert).sort())
})

t.test('the command that makes links of them finds each', async t => {
  const command = runbook.blocks.find(({ text }) => text.startsWith('sed '))?.text ?? ''
  const { stdout } = spawnSync('sh', ['-c', command.replace(/>.*/, '')], { encoding: 'utf8', cwd: root })

  const links = [...stdout.matchAll(/^ +runbook_url: (\S+)$/gm)].map(([, link]) => link)
  t.same(
    links,
    alerts.map(({ annotations }) => `https://git.example.com/sidegate/blob/main/${annotations.runbook}`),
  )
})

t.test('the rules and their runbooks ask for metrics that there are', async t => {
  const asked = [...expressions, runbook.text].flatMap(text => [...text.matchAll(/(?<![\w:])(sidegate_\w+)/g)])

  t.ok(asked.length > 0)
  for (const [, name = ''] of asked) t.ok(sampleNames.has(name), name)
})

t.test('every series that the rules ask of each other is recorded', async t => {
  for (const [name] of expressions.join('\n').matchAll(/\w+:\w+:\w+/g)) t.ok(recorded.includes(name), name)
})

t.test('the rules choose among values that a label has', async t => {
  const documented = new Map(
    rowsOf(readPages('docs'), 'Label', 'Values').map(([label, values]) => [codeOf(label)[0], codeOf(values)]),
  )
  const chosen = expressions.flatMap(expr => [...expr.matchAll(/(\w+)(?:=~?|!=)"([^"]*)"/g)])

  for (const [, label = '', values = ''] of chosen) {
    // `up` is Prometheus's own, and any three digits are a code.
    if (label === 'job' || label === 'code_class') continue
    for (const value of values.split('|')) t.ok(documented.get(label)?.includes(value), `${label} ${value}`)
  }
})

t.test('the runbooks name events that are logged', async t => {
  const named = codeOf(withoutBlocks(runbook.text)).filter(code =>
    /^(worker|config|store|upstream|certificate|request)_\w+$/.test(code),
  )

  t.ok(named.length > 0)
  for (const event of named) t.ok(Object.hasOwn(logEvents, event), event)
})

t.test('promtool takes the scrape configuration, with the rules that it names', async t => {
  t.equal(promtool('check', 'config', 'scrape.yaml'), '')
})
