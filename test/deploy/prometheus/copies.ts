import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chart } from '../helm/chart.ts'
import { kubernetes } from '../kubernetes/kustomize.ts'
import { rulesFile } from './rules.ts'

const component = join(kubernetes, 'components/alerts')

/** Where the rules stand once more, since neither kustomize nor Helm reads a file outside its own folder. */
export const copies = (): Readonly<Record<string, string>> => {
  const rules = readFileSync(rulesFile, 'utf8')
  return {
    [join(component, 'prometheus-rule.yaml')]: toPrometheusRule(rules),
    [join(chart, 'rules.yaml')]: rules,
  }
}

const toPrometheusRule = (rules: string): string => `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: sidegate
  labels:
    app.kubernetes.io/name: sidegate
spec:
${rules.replaceAll(/^(?=.)/gm, '  ')}`
