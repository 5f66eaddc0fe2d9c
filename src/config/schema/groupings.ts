import { z } from 'zod'
import { credentialKinds, methods, served } from '../../gateway/operation.ts'
import { forwardAuthProxies, identityForms } from '../../gateway/options.ts'
import { droppedHeaderFault } from '../values/dropped-header.ts'
import { scopeToken } from '../values/names.ts'
import { basePathFault, pathFault } from '../values/path-pattern.ts'
import { resourceFault } from '../values/uris.ts'
import { checkedText, flag, line, name, oneOf, sizeBytes, text } from '../values/zod-scalars.ts'

/** The published interface: groupings and their operations. */

const services = [...served, 'check'] as const

const bodySize = () => sizeBytes('0B', '1000TiB')

export const operationSchema = z.strictObject({
  method: z.enum([...methods, '*'], { error: `must be one of ${methods.join(', ')}, in capitals` }),
  path: checkedText(pathFault).describe('Below the base path; * is one segment, ** at the end the rest.'),
  aliases: z.array(checkedText(pathFault)).default([]).describe('Other full paths, not below the base path.'),
  serves: z
    .enum(services, { error: `must be one of ${services.join(', ')}` })
    .optional()
    .describe('The service of Sidegate that answers it.'),
  gateway: oneOf(forwardAuthProxies)
    .optional()
    .describe('With serves: check, which gateway asks: nginx, envoy, traefik or caddy.'),
  upstream: text()
    .optional()
    .describe(
      "The upstream that it is forwarded to; none: another gateway forwards it, and asks Sidegate first. Default the grouping's.",
    ),
  credentials: oneOf(credentialKinds)
    .optional()
    .describe(
      'The required credentials: bearer, client, query or none. The default depends on what the operation does.',
    ),
  scopes: z.array(scopeToken()).default([]).describe('The scopes that a bearer token must have, all of them.'),
  plan: text()
    .optional()
    .describe(
      "client: the caller's own plan limits it; none: not limited. With credentials: none the name of a plan, counted by address.",
    ),
  forwardAuthorization: flag()
    .default(false)
    .describe('Whether Authorization is forwarded to the upstream. Default false.'),
  maxBody: bodySize()
    .optional()
    .describe("Maximum size of a forwarded request's body, then 413. Default the grouping's."),
  advertise: flag()
    .default(false)
    .describe('Whether the server metadata names this operation, and not the first with this service.'),
})

export const groupingSchema = z.strictObject({
  name: name().refine(text => text !== 'unmatched', {
    error: 'metrics use the name unmatched for requests without a grouping; choose another name',
  }),
  version: line().default('1.0.0').describe('Default 1.0.0.'),
  basePath: checkedText(basePathFault).default('').describe('A prefix of every path. Default none.'),
  upstream: text().optional().describe('The upstream of operations that set neither serves nor upstream.'),
  stripBasePath: flag()
    .default(false)
    .describe('Whether the upstream sees paths without the base path. Default false.'),
  maxBody: bodySize().prefault('4GiB').describe("Maximum size of a forwarded request's body, then 413. Default 4GiB."),
  dropHeaders: z
    .array(checkedText(droppedHeaderFault))
    .default([])
    .describe(
      "Further header fields of the client's request that its upstreams do not get, in any spelling. Default none.",
    ),
  resource: checkedText(resourceFault)
    .optional()
    .describe(
      "The audience that a token must have, if it is not the issuer (RFC 8707). Default the issuer's origin and the base path.",
    ),
  identity: oneOf(identityForms)
    .default('headers')
    .describe(
      "How the caller's identity is sent to upstreams: in X-Sidegate-* headers, in a JWT signed for them (assertion), or both. Default headers.",
    ),
  operations: z.unknown().optional(), // checked by itself, item by item
})

export const groupingsSchema = z
  .array(z.strictObject({ ...groupingSchema.shape, operations: z.array(operationSchema).default([]) }))
  .default([])
  .describe('API groupings: each a name, a version and its operations.')
