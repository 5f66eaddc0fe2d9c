import { Upstream, type UpstreamDeps } from './upstream.ts'
import type { UpstreamOptions } from './upstream-options.ts'

/**
 * All upstreams of a gateway, by name.
 * @throws Error a sentence for the operator, where one cannot be opened; none stays open then
 */
export const openUpstreams = (all: readonly UpstreamOptions[], deps: UpstreamDeps): ReadonlyMap<string, Upstream> => {
  const opened = new Map<string, Upstream>()
  try {
    for (const options of all) opened.set(options.name, new Upstream(options, deps))
  } catch (error) {
    // Their health checks would go on for as long as the process does, beside those of what is served.
    for (const upstream of opened.values()) upstream.close()
    throw error
  }
  return opened
}
