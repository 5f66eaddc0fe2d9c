import { Upstream, type UpstreamDeps } from './upstream.ts'
import type { UpstreamOptions } from './upstream-options.ts'

/**
 * An upstream with these options that another gateway has open, with all its state. Undefined: there is no such
 * upstream.
 */
export type FindOpenUpstream = (options: UpstreamOptions) => Upstream | undefined

/**
 * Opens all upstreams of a gateway, by name. Upstreams that another gateway has open are shared.
 * @throws Error a sentence for the operator if one cannot be opened; then this gateway keeps none open
 */
export const openUpstreams = (
  all: readonly UpstreamOptions[],
  deps: UpstreamDeps,
  findOpen: FindOpenUpstream = () => undefined,
): ReadonlyMap<string, Upstream> => {
  const opened = new Map<string, Upstream>()
  try {
    for (const options of all) opened.set(options.name, findOpen(options)?.share() ?? new Upstream(options, deps))
  } catch (error) {
    // Otherwise their health checks would run until the process ends.
    for (const upstream of opened.values()) upstream.close()
    throw error
  }
  return opened
}
