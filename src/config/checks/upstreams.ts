import type { ParsedConfig, ParsedUpstream } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/** What must hold inside each upstream. */
export const checkUpstreams = ({ upstreams }: ParsedConfig): readonly Fault[] =>
  upstreams.flatMap(upstream => applyRules(rules, upstream, upstream.value))

const rules: readonly Rule<ParsedUpstream>[] = [
  {
    reads: ['ejection.time', 'ejection.maxTime'],
    check: ({ ejection }) =>
      ejection.time > ejection.maxTime
        ? valueAt(['ejection', 'time'], 'is longer than the longest time; see ejection.maxTime')
        : undefined,
  },
  {
    reads: ['tls', 'targets'],
    check: ({ tls, targets }) =>
      tls && !targets.some(target => /^https:/i.test(target))
        ? keyAt('tls', 'is without effect, since no target is https; write https://, or remove it')
        : undefined,
  },
  {
    reads: ['tls.cert_file', 'tls.key_file'],
    check: ({ tls }) =>
      tls && (tls.cert_file === undefined) !== (tls.key_file === undefined)
        ? valueAt(
            ['tls', tls.cert_file === undefined ? 'cert_file' : 'key_file'],
            'missing; a certificate and its private key go together',
          )
        : undefined,
  },
]
