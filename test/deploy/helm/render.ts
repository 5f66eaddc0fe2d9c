/**
 * Renders the chart again after a change: `npx node test/deploy/helm/render.ts`, with Helm 4 as `helm`, or with the
 * program that HELM names. `go install helm.sh/helm/v4/cmd/helm@latest` installs one. It also checks the findings of
 * `helm lint`, and the values that the chart refuses. The output is committed with the change, and the tests read it.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chart, chartDigest, headLine, rendered, valueSets, valuesFile } from './chart.ts'
import { refusals } from './refusals.ts'

const helm = (
  ...args: readonly string[]
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } =>
  spawnSync(process.env.HELM ?? 'helm', args, { encoding: 'utf8' })

/** @throws Error with the words of Helm */
const demand = (...args: readonly string[]): string => {
  const { status, stdout, stderr } = helm(...args)
  if (status !== 0) throw new Error(`helm ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

const valuesOf = (set: string): readonly string[] => {
  const file = valuesFile(set)
  return file === undefined ? [] : ['--values', file]
}

const template = ['template', 'sidegate', chart, '--namespace', 'apis', '--kube-version', '1.37.0'] as const

const renderAll = (): void => {
  const head = headLine(chartDigest())
  for (const set of valueSets) {
    demand('lint', '--strict', chart, ...valuesOf(set))
    writeFileSync(join(rendered, `${set}.yaml`), `${head}\n${demand(...template, ...valuesOf(set))}`)
  }
  const traffic = ['--show-only', 'templates/tests/traffic.yaml', '--set', 'configuration.tls.cert_file=/a'] as const
  writeFileSync(join(rendered, 'test-with-tls.yaml'), `${head}\n${demand(...template, ...traffic)}`)
  const notes = demand('install', 'sidegate', chart, '--namespace', 'apis', '--dry-run=client', ...valuesOf('gateway'))
  writeFileSync(join(rendered, 'notes.txt'), `${head}\n${notes.slice(notes.indexOf('NOTES:'))}`)
}

const refuseAll = (): void => {
  const said = refusals.map(({ what, set, words }) => {
    const { status, stderr } = helm(...template, '--set', set)
    if (status === 0 || !stderr.includes(words)) throw new Error(`${what} should be refused with «${words}»: ${stderr}`)
    return `${what}\n    --set ${set}\n${stderr.trim().replaceAll(/^/gm, '    ')}\n`
  })
  writeFileSync(join(rendered, 'refusals.txt'), `${headLine(chartDigest())}\n\n${said.join('\n')}`)
}

renderAll()
refuseAll()
