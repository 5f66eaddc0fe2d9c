/** One rules.yaml, wherever it stands once more. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readRendered } from '../helm/chart.ts'
import { kubernetes, renderKustomization, renderWith } from '../kubernetes/kustomize.ts'
import { onlyOne } from '../kubernetes/objects.ts'
import { findSchemaProblems } from '../kubernetes/schema.ts'
import { copies } from './copies.ts'
import { groups } from './rules.ts'

t.test('the copies are those of the rules', async t => {
  for (const [file, text] of Object.entries(copies()))
    t.equal(readFileSync(file, 'utf8'), text, 'npx node test/deploy/prometheus/render.ts copies them anew')
})

t.test('an overlay with the component has the rules, and one without has none', async t => {
  const found = onlyOne(renderWith(t.testdir({}), 'gateway', 'alerts'), 'PrometheusRule')

  t.same(found.spec, { groups })
  t.same(findSchemaProblems(found), [])
  t.notOk(renderKustomization(join(kubernetes, 'overlays/gateway')).some(({ kind }) => kind === 'PrometheusRule'))
})

t.test('the chart hands the rules on as they stand, with the labels that a Prometheus looks for', async t => {
  const { metadata, spec } = onlyOne(readRendered('gateway').objects, 'PrometheusRule')

  t.same(spec, { groups })
  t.match(metadata, { labels: { release: 'kube-prometheus-stack' } })
})
