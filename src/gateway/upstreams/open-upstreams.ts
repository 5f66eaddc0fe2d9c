import { Upstream, type UpstreamDeps } from './upstream.ts'
import type { UpstreamOptions } from './upstream-options.ts'

/** One that is open already, for another gateway, and has these options: with all that it knows. Undefined: there is none. */
export type FindOpenUpstream = (options: UpstreamOptions) => Upstream | undefined

/**
 * All upstreams of a gateway, by name; what another has open it shares.
 * @throws Error a sentence for the operator, where one cannot be opened; none stays open for this gateway then
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
    // Their health checks would go on for as long as the process does, beside those of what is served.
    for (const upstream of opened.values()) upstream.close()
    throw error
  }
  return opened
}
