import { isInvalid } from '../parse/config-section.ts'
import type { GroupedOperation, ParsedConfig, ParsedOperation } from '../parse/parsed-config.ts'
import { noUpstream, type OperationView, toOperationView } from '../resolve/effective-operation.ts'
import { type Fault, pathText } from '../source/diagnostic.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/**
 * Checks forward authentication, where another gateway forwards requests and asks Sidegate first: `serves: check` and
 * `upstream: none`.
 */
export const checkForwardAuth = (parsed: ParsedConfig): readonly Fault[] => {
  const parties = partiesOf(parsed)
  return [
    ...parsed.operations.flatMap(operation =>
      applyRules(rules, operation, { own: operation.value, view: toOperationView(operation), ...parties }),
    ),
    ...parsed.operations.flatMap(operation => intrusions(operation, parsed.operations)),
    ...reservedNames(parsed),
  ]
}

interface Facts extends Parties {
  readonly own: ParsedOperation
  readonly view: OperationView
}

/** The settings that need each other, as far as they exist. */
interface Parties {
  readonly isProxyTrusted: boolean
  readonly isChecked: boolean
  readonly isAnythingElsewhere: boolean
}

/** An invalid setting, or an operation missing from the parsed configuration, may be the one that is needed. */
const partiesOf = ({ topLevel, operations, hasAllOperations }: ParsedConfig): Parties => {
  const views = operations.map(toOperationView)
  return {
    isProxyTrusted: topLevel.value.trustedProxies.length > 0 || isInvalid(topLevel.invalidPaths, 'trustedProxies'),
    isChecked: !hasAllOperations || views.some(({ serves }) => serves === 'check'),
    isAnythingElsewhere: !hasAllOperations || views.some(({ upstream }) => upstream === noUpstream),
  }
}

const rules: readonly Rule<Facts>[] = [
  {
    reads: ['serves', 'gateway'],
    check: ({ own }) =>
      own.serves === 'check' && own.gateway === undefined
        ? valueAt('gateway', 'missing; say which gateway asks: nginx, envoy, traefik or caddy')
        : undefined,
  },
  {
    reads: ['serves', 'gateway'],
    check: ({ own }) =>
      own.serves !== 'check' && own.gateway !== undefined
        ? keyAt('gateway', 'is for what serves check; remove it')
        : undefined,
  },
  {
    reads: ['serves', 'gateway', 'method'],
    check: ({ own }) => {
      if (isForEnvoy(own) && own.method !== '*') {
        return valueAt('method', "Envoy asks with any method; set method: '*'")
      }
      return !isForEnvoy(own) && own.method === '*'
        ? valueAt('method', '* is for a check that envoy asks for; name one method')
        : undefined
    },
  },
  {
    reads: ['serves', 'gateway', 'path'],
    check: ({ own, view: { path } }) =>
      isForEnvoy(own) && !isBelowPrefix(path)
        ? valueAt('path', 'Envoy puts its path_prefix before the path it asks about; write it as /check/**')
        : undefined,
  },
  {
    reads: ['serves', 'gateway', 'path'],
    check: ({ own, view: { path } }) =>
      own.serves === 'check' && own.gateway !== undefined && own.gateway !== 'envoy' && path.includes('*')
        ? valueAt('path', `${own.gateway} asks at one place, a path without wildcards`)
        : undefined,
  },
  {
    reads: ['serves', 'gateway', 'aliases'],
    check: ({ own }) =>
      isForEnvoy(own) && own.aliases.length > 0
        ? keyAt('aliases', 'a check that envoy asks for has one path; remove them')
        : undefined,
  },
  {
    reads: ['serves'],
    check: ({ own, isProxyTrusted }) =>
      own.serves === 'check' && !isProxyTrusted
        ? valueAt('serves', 'nobody is trusted to ask; name the gateway under trustedProxies')
        : undefined,
  },
  {
    reads: ['serves'],
    check: ({ own, isAnythingElsewhere }) =>
      own.serves === 'check' && !isAnythingElsewhere
        ? valueAt('serves', 'there is nothing to ask about; give what the other gateway forwards upstream: none')
        : undefined,
  },
  {
    reads: ['serves', 'upstream'],
    check: ({ view, isChecked }) =>
      view.upstream === noUpstream && !isChecked
        ? valueAt(
            'upstream',
            'none: another gateway forwards it, and none can ask; publish an operation that serves check',
          )
        : undefined,
  },
  {
    reads: ['serves', 'upstream', 'forwardAuthorization'],
    check: ({ own, view }) =>
      view.upstream === noUpstream && own.forwardAuthorization
        ? keyAt('forwardAuthorization', 'is without effect with upstream: none; tell the gateway that forwards')
        : undefined,
  },
  {
    reads: ['serves', 'upstream', 'maxBody'],
    check: ({ own, view }) =>
      view.upstream === noUpstream && own.maxBody !== undefined
        ? keyAt('maxBody', 'is without effect with upstream: none; tell the gateway that forwards')
        : undefined,
  },
]

const isForEnvoy = ({ serves, gateway }: ParsedOperation): boolean => serves === 'check' && gateway === 'envoy'

/** Below `/.well-known` documents are published automatically. */
const isBelowPrefix = (path: string): boolean => /^\/(?!\.well-known\/)[^*]+\/\*\*$/.test(path)

/**
 * The paths that Envoy asks about are below the path of its check request. If another operation were published there,
 * its response would be the answer, and a 2xx response would let the request pass.
 */
const intrusions = (check: GroupedOperation, operations: readonly GroupedOperation[]): readonly Fault[] => {
  const { path: pattern } = toOperationView(check)
  if (check.value.gateway !== 'envoy' || isInvalid(check.invalidPaths, 'path') || !isBelowPrefix(pattern)) return []
  const prefix = pattern.slice(0, -'/**'.length)
  return operations
    .filter(other => other !== check && waysOf(other).some(way => way === prefix || way.startsWith(`${prefix}/`)))
    .map(({ path }) => ({
      path: [...path, 'path'],
      at: 'value',
      message: `below ${prefix} Envoy asks (${pathText(check.path)}), and this would answer it; take another path`,
    }))
}

const waysOf = (operation: GroupedOperation): readonly string[] => {
  const { path, aliases } = toOperationView(operation)
  return [path, ...aliases]
}

const reservedNames = ({ upstreamNames }: ParsedConfig): readonly Fault[] =>
  upstreamNames
    .filter(name => name === noUpstream)
    .map(name => ({
      path: ['upstreams', name],
      at: 'key',
      message: 'as an upstream none says that another gateway forwards; take another name',
    }))
