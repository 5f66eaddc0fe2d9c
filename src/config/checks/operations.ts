import type { GroupedOperation, ParsedConfig, ParsedOperation } from '../parse/parsed-config.ts'
import {
  allowedCredentials,
  namesClient,
  noUpstream,
  type OperationView,
  servedMethods,
  toOperationView,
} from '../resolve/effective-operation.ts'
import { type Fault, keysText } from '../source/diagnostic.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/** Checks each operation by itself, and against its grouping and upstream. */
export const checkOperations = (parsed: ParsedConfig): readonly Fault[] => {
  const servesAuthorize = parsed.operations.some(({ value }) => value.serves === 'authorize')
  return parsed.operations.flatMap(operation =>
    applyRules(rules, operation, {
      ...facts(operation),
      upstreamNames: parsed.upstreamNames,
      planNames: parsed.planNames,
      servesAuthorize,
    }),
  )
}

interface Facts {
  readonly own: ParsedOperation
  readonly view: OperationView
  readonly upstreamNames: readonly string[]
  readonly planNames: readonly string[]
  readonly servesAuthorize: boolean
}

const facts = (operation: GroupedOperation): Pick<Facts, 'own' | 'view'> => ({
  own: operation.value,
  view: toOperationView(operation),
})

const rules: readonly Rule<Facts>[] = [
  {
    reads: ['serves', 'upstream'],
    check: ({ own }) =>
      own.serves && own.upstream ? keyAt('upstream', 'excludes serves; keep one of the two') : undefined,
  },
  {
    reads: ['serves', 'upstream'],
    check: ({ view }) =>
      view.serves || view.upstream
        ? undefined
        : valueAt([], 'has no target; set serves, or an upstream here or at the grouping'),
  },
  {
    reads: ['upstream'],
    check: ({ own, upstreamNames }) =>
      isUnknownUpstream(own.upstream, upstreamNames) ? valueAt('upstream', unknownUpstream(upstreamNames)) : undefined,
  },
  {
    reads: ['method', 'serves'],
    check: ({ view: { method, serves } }) =>
      serves && !servedMethods[serves].includes(method)
        ? valueAt('method', `${serves} is served only for ${servedMethods[serves].join(' and ')}`)
        : undefined,
  },
  {
    reads: ['path', 'serves'],
    check: ({ view: { path, serves } }) =>
      serves && serves !== 'check' && path.includes('*')
        ? valueAt('path', 'an operation with serves has a path without wildcards')
        : undefined,
  },
  {
    reads: ['credentials', 'serves'],
    check: ({ view: { credentials, serves } }) => {
      const allowed = allowedCredentials[serves ?? 'forward']
      if (allowed.includes(credentials)) return undefined
      return valueAt('credentials', `must be ${allowed.join(' or ')} for ${serves ?? 'a forwarded operation'}`)
    },
  },
  {
    reads: ['credentials', 'serves', 'scopes'],
    check: ({ own, view }) =>
      own.scopes.length > 0 && view.credentials !== 'bearer'
        ? keyAt('scopes', 'only bearer tokens have scopes; set credentials: bearer, or remove them')
        : undefined,
  },
  {
    reads: ['credentials', 'serves', 'plan'],
    check: facts => {
      const fault = planFault(facts)
      return fault === undefined ? undefined : valueAt('plan', fault)
    },
  },
  {
    reads: ['serves', 'forwardAuthorization'],
    check: ({ own }) =>
      own.serves && own.forwardAuthorization
        ? keyAt('forwardAuthorization', 'is only for forwarded operations; remove it')
        : undefined,
  },
  {
    reads: ['serves', 'maxBody'],
    check: ({ own }) =>
      own.serves && own.maxBody !== undefined
        ? keyAt('maxBody', 'is only for forwarded operations; operations with serves accept 64KiB; remove it')
        : undefined,
  },
  {
    reads: ['serves', 'advertise'],
    check: ({ own }) =>
      own.advertise && !own.serves ? keyAt('advertise', 'is only for operations with serves; remove it') : undefined,
  },
  {
    reads: ['path', 'aliases'],
    check: ({ view, servesAuthorize }) =>
      servesAuthorize && [view.path, ...view.aliases].some(isInteractionPath)
        ? valueAt('path', '/interaction belongs to the login pages if authorize is served; choose another path')
        : undefined,
  },
]

const planFault = ({ own: { plan }, view: { credentials, serves }, planNames }: Facts): string | undefined => {
  if (plan === undefined || plan === 'none') return undefined
  if (serves === 'check') return 'the operations that the gateway asks about have plans of their own; remove it here'
  if (namesClient(credentials, serves)) {
    return plan === 'client' ? undefined : 'must be client or none; a plan can be named only with credentials: none'
  }
  if (plan === 'client') {
    return 'requests name no client whose plan could apply; name the plan for each address, set plan: none, or require credentials'
  }
  return planNames.includes(plan) ? undefined : `no such plan; known are ${keysText(planNames)}`
}

const isInteractionPath = (path: string): boolean => path === '/interaction' || path.startsWith('/interaction/')

export const isUnknownUpstream = (name: string | undefined, names: readonly string[]): boolean =>
  name !== undefined && name !== noUpstream && !names.includes(name)

export const unknownUpstream = (names: readonly string[]): string =>
  names.length > 0 ? `no such upstream; known are ${keysText(names)}` : 'no such upstream; define it under upstreams'
