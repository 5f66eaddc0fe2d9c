import type { ParsedConfig, ParsedUpstream } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/** Checks each upstream by itself. */
export const checkUpstreams = ({ upstreams }: ParsedConfig): readonly Fault[] =>
  upstreams.flatMap(upstream => applyRules(rules, upstream, upstream.value))

const rules: readonly Rule<ParsedUpstream>[] = [
  {
    reads: ['outlierDetection.baseEjectionTime', 'outlierDetection.maxEjectionTime'],
    check: ({ outlierDetection }) =>
      outlierDetection.baseEjectionTime > outlierDetection.maxEjectionTime
        ? valueAt(['outlierDetection', 'baseEjectionTime'], 'is longer than outlierDetection.maxEjectionTime')
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
            'missing; a certificate needs its private key, and the key its certificate',
          )
        : undefined,
  },
]
