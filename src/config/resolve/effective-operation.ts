import type { Credentials, OperationPlan } from '../../gateway/operation.ts'
import type { GroupedOperation, ParsedOperation } from '../parse/parsed-config.ts'
import { joinPath } from '../values/path-pattern.ts'

/** The services that Sidegate itself provides. */
export type Service = NonNullable<ParsedOperation['serves']>

/** Used in place of an upstream's name: another gateway forwards the operation, and asks Sidegate first. */
export const noUpstream = 'none'

/** An operation of the file with the settings of its grouping and its defaults filled in. */
export interface OperationView {
  readonly method: string
  /** From the origin, base path included. */
  readonly path: string
  readonly aliases: readonly string[]
  readonly serves: Service | undefined
  /** The upstream's name, or `noUpstream`; undefined if Sidegate serves the operation, or if none is set. */
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

/**
 * Whether a request identifies the client whose plan is charged. An authorization request names its client without
 * authentication.
 */
export const namesClient = (credentials: Credentials, serves: Service | undefined): boolean =>
  credentials !== 'none' || serves === 'authorize'

/** The credentials that are possible for each kind of operation; the first is the default. */
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

/** The methods of each service. */
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
