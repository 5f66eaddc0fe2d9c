import type { Credentials, OperationPlan } from '../../gateway/operation.ts'
import type { GroupedOperation, ParsedOperation } from '../parse/parsed-config.ts'
import { joinPath } from '../values/path-pattern.ts'

/** What Sidegate answers itself. */
export type Service = NonNullable<ParsedOperation['serves']>

/** In place of an upstream's name: another gateway forwards the operation, and asks here first. */
export const noUpstream = 'none'

/** An operation of the file with what it takes from its grouping and its defaults filled in. */
export interface OperationView {
  readonly method: string
  /** From the origin, base path included. */
  readonly path: string
  readonly aliases: readonly string[]
  readonly serves: Service | undefined
  /** Where it is forwarded, or `noUpstream`; undefined where Sidegate serves it, or where nobody said. */
  readonly upstream: string | undefined
  readonly credentials: Credentials
  readonly plan: OperationPlan
}

export const toOperationView = ({ value, grouping }: GroupedOperation): OperationView => {
  const { method, serves } = value
  const credentials = value.credentials ?? allowedCredentials[serves ?? 'forward'][0]
  return {
    method,
    path: joinPath(grouping.value.basePath, value.path),
    aliases: value.aliases,
    serves,
    upstream: serves ? undefined : (value.upstream ?? grouping.value.upstream),
    credentials,
    plan: toPlan(value.plan ?? (namesClient(credentials, serves) ? 'client' : 'none')),
  }
}

const toPlan = (plan: string): OperationPlan => (plan === 'client' || plan === 'none' ? plan : { name: plan })

/** Whether a request shows whose plan to charge. An authorization request names its client without proof. */
export const namesClient = (credentials: Credentials, serves: Service | undefined): boolean =>
  credentials !== 'none' || serves === 'authorize'

/** What makes sense for what an operation does; the first is the default. */
export const allowedCredentials: Readonly<Record<Service | 'forward', readonly [Credentials, ...Credentials[]]>> = {
  token: ['client'],
  introspect: ['client'],
  revoke: ['client'],
  par: ['client'],
  authorize: ['none'],
  metadata: ['query', 'none'],
  discovery: ['none'],
  jwks: ['none'],
  check: ['none'],
  forward: ['bearer', 'query', 'none'],
}

/** The methods by which each thing is served. */
export const servedMethods: Readonly<Record<Service, readonly string[]>> = {
  token: ['POST'],
  introspect: ['POST'],
  revoke: ['POST'],
  par: ['POST'],
  authorize: ['GET', 'POST'],
  metadata: ['GET'],
  discovery: ['GET'],
  jwks: ['GET'],
  check: ['GET', '*'],
}
