import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { isUnknownUpstream, unknownUpstream } from './operations.ts'

/** Checks that each grouping's name is unique (it is a metric label), and that upstreams exist. */
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
      message: 'another grouping has this name; choose another',
    }))

const unknownUpstreams = ({ groupings, upstreamNames }: ParsedConfig): readonly Fault[] =>
  groupings
    .filter(({ value }) => isUnknownUpstream(value.upstream, upstreamNames))
    .map(({ path }) => ({ path: [...path, 'upstream'], at: 'value', message: unknownUpstream(upstreamNames) }))
