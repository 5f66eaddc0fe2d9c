import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningRedis } from './redis.ts'

const readme = readFileSync(join(import.meta.dirname, '../../src/stores/README.md'), 'utf8')

/** The rights that the documentation asks for. */
const rights = (/^ACL SETUSER sidegate on >PASSWORD ~sidegate:\* (.+)$/m.exec(readme)?.[1] ?? '').split(' ')

const password = 'p@ss:w/rd?&='

/** User and password for an address, percent-encoded. */
export const leastUser = `sidegate:${encodeURIComponent(password)}`

/** Creates a user with exactly the rights that the documentation lists. */
export const admitLeastUser = async ({ client }: RunningRedis): Promise<void> => {
  await client.acl('SETUSER', 'sidegate', 'on', `>${password}`, '~sidegate:*', ...rights)
}

/** The commands that were refused to users, a line each. */
export const findRefusals = async ({ client }: RunningRedis): Promise<readonly string[]> =>
  ((await client.acl('LOG')) as readonly (readonly unknown[])[]).map(entry => entry.slice(0, 10).join(' '))
