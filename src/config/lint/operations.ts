import type { ParsedConfig } from '../parse/parsed-config.ts'
import { toOperationView } from '../resolve/effective-operation.ts'
import { isLoopback } from '../values/address.ts'
import { type WarningRules, warnIf } from './warning.ts'

/** Operations: what clients send, and where it is forwarded to. */
export const operationRules = {
  'plain-upstream': ({ parsed }) => {
    const names = findTokenReaders(parsed)
    const message = 'tokens of callers go there in clear (forwardAuthorization); write https://'
    return parsed.upstreams
      .filter(({ name }) => names.has(name))
      .flatMap(({ path, value }) =>
        value.targets.flatMap((target, index) => warnIf(isReadable(target), [...path, 'targets', index], message)),
      )
  },
  'shared-audience': ({ parsed }) =>
    parsed.groupings.flatMap(grouping =>
      warnIf(
        isForwarding(grouping, parsed) && grouping.value.resource === undefined && grouping.value.basePath === '',
        [...grouping.path, 'resource'],
        "without resource and basePath its tokens are valid for the issuer's whole origin, and cannot be requested for this grouping alone (RFC 8707); set resource",
      ),
    ),
  'unheld-scope': ({ parsed }) => {
    const held = new Set(parsed.clients.flatMap(({ value }) => value.scope))
    // If all clients are in the store, their scopes are not known.
    if (parsed.clients.length === 0) return []
    return parsed.operations.flatMap(({ path, value }) =>
      value.scopes.flatMap((scope, index) =>
        warnIf(
          !held.has(scope),
          [...path, 'scopes', index],
          `no client of the file has the scope ${scope}, so all of their requests are refused here; add it to the scope of a client in the file or in the store`,
        ),
      ),
    )
  },
  'query-credentials': ({ parsed: { operations } }) =>
    operations.flatMap(operation =>
      warnIf(
        toOperationView(operation).credentials === 'query',
        [...operation.path, 'credentials'],
        'the secret is part of the URL, which proxies and browsers record (RFC 6749 section 2.3.1); use another kind of credentials if callers can',
      ),
    ),
} as const satisfies WarningRules

const isForwarding = (grouping: ParsedConfig['groupings'][number], { operations }: ParsedConfig): boolean =>
  operations.some(operation => operation.grouping === grouping && toOperationView(operation).credentials === 'bearer')

/** The upstreams to which `Authorization` is forwarded. */
const findTokenReaders = ({ operations }: ParsedConfig): ReadonlySet<string | undefined> =>
  new Set(
    operations.filter(({ value }) => value.forwardAuthorization).map(operation => toOperationView(operation).upstream),
  )

const isReadable = (target: string): boolean => /^http:/i.test(target) && !isLoopback(new URL(target).hostname)
