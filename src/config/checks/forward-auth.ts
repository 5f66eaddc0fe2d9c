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
        ? valueAt('gateway', 'missing; name the gateway that asks: nginx, envoy, traefik or caddy')
        : undefined,
  },
  {
    reads: ['serves', 'gateway'],
    check: ({ own }) =>
      own.serves !== 'check' && own.gateway !== undefined
        ? keyAt('gateway', 'is only for serves: check; remove it')
        : undefined,
  },
  {
    reads: ['serves', 'gateway', 'method'],
    check: ({ own }) => {
      if (isForEnvoy(own) && own.method !== '*') {
        return valueAt('method', "Envoy asks with the method of the original request; set method: '*'")
      }
      return !isForEnvoy(own) && own.method === '*'
        ? valueAt('method', '* is only for serves: check with gateway: envoy; name one method')
        : undefined
    },
  },
  {
    reads: ['serves', 'gateway', 'path'],
    check: ({ own, view: { path } }) =>
      isForEnvoy(own) && !isBelowPrefix(path)
        ? valueAt('path', 'Envoy puts its path_prefix before the original path; write the prefix as in /check/**')
        : undefined,
  },
  {
    reads: ['serves', 'gateway', 'path'],
    check: ({ own, view: { path } }) =>
      own.serves === 'check' && own.gateway !== undefined && own.gateway !== 'envoy' && path.includes('*')
        ? valueAt('path', `${own.gateway} asks with a fixed path; remove the wildcards`)
        : undefined,
  },
  {
    reads: ['serves', 'gateway', 'aliases'],
    check: ({ own }) =>
      isForEnvoy(own) && own.aliases.length > 0
        ? keyAt('aliases', 'a check for envoy has only one path; remove them')
        : undefined,
  },
  {
    reads: ['serves'],
    check: ({ own, isProxyTrusted }) =>
      own.serves === 'check' && !isProxyTrusted
        ? valueAt('serves', 'no gateway is trusted to ask; name it under trustedProxies')
        : undefined,
  },
  {
    reads: ['serves'],
    check: ({ own, isAnythingElsewhere }) =>
      own.serves === 'check' && !isAnythingElsewhere
        ? valueAt(
            'serves',
            'no operation has upstream: none; set that at the operations that the other gateway forwards',
          )
        : undefined,
  },
  {
    reads: ['serves', 'upstream'],
    check: ({ view, isChecked }) =>
      view.upstream === noUpstream && !isChecked
        ? valueAt(
            'upstream',
            'none is for operations that another gateway forwards after it has asked here; publish an operation that serves check',
          )
        : undefined,
  },
  {
    reads: ['serves', 'upstream', 'forwardAuthorization'],
    check: ({ own, view }) =>
      view.upstream === noUpstream && own.forwardAuthorization
        ? keyAt('forwardAuthorization', 'has no effect with upstream: none; configure it in the gateway that forwards')
        : undefined,
  },
  {
    reads: ['serves', 'upstream', 'maxBody'],
    check: ({ own, view }) =>
      view.upstream === noUpstream && own.maxBody !== undefined
        ? keyAt('maxBody', 'has no effect with upstream: none; configure it in the gateway that forwards')
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
      message: `below ${prefix} Envoy sends its checks (${pathText(check.path)}), which this operation would answer; choose another path`,
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
      message: 'upstream: none means that another gateway forwards; choose another name',
    }))
