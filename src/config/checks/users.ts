import type { ParsedConfig, ParsedUser } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/** Checks each user by itself, and users against clients. */
export const checkUsers = (parsed: ParsedConfig): readonly Fault[] => {
  if (parsed.users.length === 0) return []
  const clientIds = new Set(parsed.clients.map(({ value }) => value.client_id))
  return [
    ...parsed.users.flatMap(user => applyRules(rules, user, { user: user.value, clientIds })),
    ...doubled(parsed, 'username', 'another user has this username; choose another'),
    ...doubled(parsed, 'sub', 'another user has this sub, so tokens could not distinguish the two; choose another'),
  ]
}

interface Facts {
  readonly user: ParsedUser
  readonly clientIds: ReadonlySet<string>
}

const rules: readonly Rule<Facts>[] = [
  {
    reads: ['password_hash'],
    check: ({ user }) =>
      user.password_hash ? undefined : valueAt('password_hash', 'missing; use the output of `sidegate hash`'),
  },
  {
    // A client's own tokens have its client_id as sub (RFC 9068 section 2.2). No user may have the same sub.
    reads: ['sub'],
    check: ({ user, clientIds }) =>
      user.sub !== undefined && clientIds.has(user.sub)
        ? valueAt(
            'sub',
            'equals a client_id, so the user could be mistaken for that client; choose another (RFC 9700 section 4.15)',
          )
        : undefined,
  },
]

const doubled = ({ users }: ParsedConfig, field: 'username' | 'sub', message: string): readonly Fault[] =>
  users
    .filter(({ value }) => value[field] !== undefined)
    .filter(({ value }, index, all) => all.findIndex(other => other.value[field] === value[field]) < index)
    .map(({ path }) => ({ path: [...path, field], at: 'value', message }))
