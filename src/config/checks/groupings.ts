import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { isUnknownUpstream, unknownUpstream } from './operations.ts'

/** What must hold among groupings: each name once (it is the label of metrics), and upstreams that exist. */
export const checkGroupings = (parsed: ParsedConfig): readonly Fault[] => [
  ...doubledNames(parsed),
  ...unknownUpstreams(parsed),
]

const doubledNames = ({ groupings }: ParsedConfig): readonly Fault[] =>
  groupings
    .filter(({ value }, index) => groupings.findIndex(other => other.value.name === value.name) < index)
    .map(({ path }) => ({
      path: [...path, 'name'],
      at: 'value',
      message: 'another grouping has this name; take a new one',
    }))

const unknownUpstreams = ({ groupings, upstreamNames }: ParsedConfig): readonly Fault[] =>
  groupings
    .filter(({ value }) => isUnknownUpstream(value.upstream, upstreamNames))
    .map(({ path }) => ({ path: [...path, 'upstream'], at: 'value', message: unknownUpstream(upstreamNames) }))
