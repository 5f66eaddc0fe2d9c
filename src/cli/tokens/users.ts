import type { SidegateConfig } from '../../config/load.ts'
import { opaqueSub } from '../../oauth/interaction/users.ts'
import { toDigest } from '../../oauth/keys/loaded-keys.ts'
import type { KeyRecord } from '../../stores/ports/keys.ts'

/** Somebody of `login.users`, and the subject that their tokens name. */
export interface User {
  readonly username: string
  readonly sub: string
}

/**
 * Who may sign in on the embedded pages, with their subjects.
 * @param records the keys of the store: a subject that the configuration does not name is a digest under one of them
 * @throws Error where there is such a subject, and no gateway has made that key yet
 */
export const readUsers = ({ oauth }: SidegateConfig, records: readonly KeyRecord[]): readonly User[] =>
  oauth.users.map(({ username, sub }) => ({ username, sub: sub ?? opaqueSub(username, toDigest(records)) }))
