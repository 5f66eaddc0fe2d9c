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
        : valueAt([], 'goes nowhere; say what it serves, or name an upstream here or at the grouping'),
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
        ? valueAt('method', `${serves} is served for ${servedMethods[serves].join(' and ')} only`)
        : undefined,
  },
  {
    reads: ['path', 'serves'],
    check: ({ view: { path, serves } }) =>
      serves && serves !== 'check' && path.includes('*')
        ? valueAt('path', 'what Sidegate serves has a path without wildcards')
        : undefined,
  },
  {
    reads: ['credentials', 'serves'],
    check: ({ view: { credentials, serves } }) => {
      const allowed = allowedCredentials[serves ?? 'forward']
      if (allowed.includes(credentials)) return undefined
      return valueAt('credentials', `for ${serves ?? 'a forwarded operation'} it is ${allowed.join(' or ')}`)
    },
  },
  {
    reads: ['credentials', 'serves', 'scopes'],
    check: ({ own, view }) =>
      own.scopes.length > 0 && view.credentials !== 'bearer'
        ? keyAt('scopes', 'only bearer tokens carry scopes; set credentials: bearer, or remove them')
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
        ? keyAt('forwardAuthorization', 'is for forwarded operations; remove it')
        : undefined,
  },
  {
    reads: ['serves', 'maxBody'],
    check: ({ own }) =>
      own.serves && own.maxBody !== undefined
        ? keyAt('maxBody', 'is for forwarded operations; what Sidegate serves takes 64KiB, remove it')
        : undefined,
  },
  {
    reads: ['serves', 'advertise'],
    check: ({ own }) =>
      own.advertise && !own.serves ? keyAt('advertise', 'is for what Sidegate serves; remove it') : undefined,
  },
  {
    reads: ['path', 'aliases'],
    check: ({ view, servesAuthorize }) =>
      servesAuthorize && [view.path, ...view.aliases].some(isInteractionPath)
        ? valueAt('path', '/interaction belongs to the login pages where authorize is served; take another path')
        : undefined,
  },
]

const planFault = ({ own: { plan }, view: { credentials, serves }, planNames }: Facts): string | undefined => {
  if (plan === undefined || plan === 'none') return undefined
  if (serves === 'check') return 'what is asked about has a plan of its own; remove it here'
  if (namesClient(credentials, serves)) {
    return plan === 'client' ? undefined : 'must be client or none; a plan is named where nobody is (credentials: none)'
  }
  if (plan === 'client') {
    return 'nobody is named whose plan it could be; name the plan that each address has here, set plan: none, or ask for credentials'
  }
  return planNames.includes(plan) ? undefined : `no such plan; there are ${keysText(planNames)}`
}

const isInteractionPath = (path: string): boolean => path === '/interaction' || path.startsWith('/interaction/')

export const isUnknownUpstream = (name: string | undefined, names: readonly string[]): boolean =>
  name !== undefined && name !== noUpstream && !names.includes(name)

export const unknownUpstream = (names: readonly string[]): string =>
  names.length > 0 ? `no such upstream; there are ${keysText(names)}` : 'no such upstream; define it under upstreams'
