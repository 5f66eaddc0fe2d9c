import { systemClock } from '../../clock.ts'
import type { SidegateConfig } from '../../config/load.ts'
import { opaqueSub } from '../../oauth/interaction/users.ts'
import { toDigest } from '../../oauth/keys/loaded-keys.ts'
import { type NotBeforeTarget, setNotBefore } from '../../oauth/tokens/not-before.ts'
import type { KeyRecord } from '../../stores/ports/keys.ts'
import type { NotBefore } from '../../stores/ports/not-before.ts'
import type { Store } from '../../stores/ports/store.ts'
import { quoted } from '../client/store.ts'
import { type Command, parseOptions, requireIdentifier, UsageError } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { withOperatedStore } from '../operator-store.ts'
import { printErrorLine, printLine } from '../output.ts'

/**
 * Revokes everything that was issued to a client or for a user, whether the gateway runs or not. Returns when newly
 * issued tokens are valid.
 */
export const tokensRevoke: Command = {
  name: 'tokens revoke',
  synopsis: '--config FILE [--client ID] [--subject SUB | --username NAME] [--json]',
  summary: 'revokes everything that was issued until now to a client, for a user, or for a user at a client',
  run: async args => {
    const options = parseOptions(args, optionTypes)
    const wanted = parseWanted(options)
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const { cutoff, person } = await withOperatedStore(config, 'the tokens', async store => {
      const person = await findPerson(config, store, wanted)
      const target = toTarget(wanted, person)
      await reportStrangers(config, store, target, person)
      return { cutoff: await setNotBefore(store.cutoffs, systemClock, target, config.oauth), person }
    })
    printLine(options.json ? toJson(cutoff, person) : toSentence(cutoff, person))
    return 0
  },
}

const optionTypes = {
  ...configOption,
  client: { type: 'string' },
  subject: { type: 'string' },
  username: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** The client and the subject whose tokens are revoked, as the command line names them. */
type Wanted = { readonly [K in 'client' | 'subject' | 'username']?: string | undefined }

const parseWanted = ({ client, subject, username }: Wanted): Wanted => {
  if (client === undefined && subject === undefined && username === undefined)
    throw new UsageError('name a --client, a --subject or a --username, or a client and one of them')
  if (subject !== undefined && username !== undefined)
    throw new UsageError('--username excludes --subject; one of the two is enough')
  if (client !== undefined) requireIdentifier('--client', client)
  if (subject !== undefined) requireIdentifier('--subject', subject)
  return { client, subject, username }
}

/**
 * The user, if it is one of the configuration.
 * @throws Error if the username is unknown, or if a username is given as a subject, because that would revoke nothing
 */
const findPerson = async (
  config: SidegateConfig,
  { keys }: Store,
  { subject, username }: Wanted,
): Promise<User | undefined> => {
  if (subject === undefined && username === undefined) return undefined
  const people = readUsers(config, await keys.load(systemClock.nowMs()))
  const person = people.find(person => person.sub === subject || person.username === username)
  if (person) return person
  if (username !== undefined)
    throw new Error(`login.users of the configuration has no username ${quoted(username)}; name the --subject instead`)
  const misnamed = people.find(person => person.username === subject)
  if (!misnamed) return undefined
  const { username: name, sub } = misnamed
  throw new Error(
    `${quoted(name)} is a username, whose subject is ${sub}; nothing is revoked: use --username ${quoted(name)}`,
  )
}

const toTarget = ({ client, subject }: Wanted, person: User | undefined): NotBeforeTarget => {
  const sub = person?.sub ?? subject
  return { ...(client !== undefined && { client_id: client }), ...(sub !== undefined && { sub }) }
}

/**
 * A misspelt name revokes nothing, but the name may also belong to a client or user that was removed and comes back.
 */
const reportStrangers = async (
  { oauth }: SidegateConfig,
  { clients }: Store,
  { client_id, sub }: NotBeforeTarget,
  person: User | undefined,
): Promise<void> => {
  const isClient = async (id: string): Promise<boolean> => oauth.clients.has(id) || Boolean(await clients.find(id))
  const report = (problem: string): void =>
    printErrorLine(`sidegate: ${problem} now; everything that was issued under that name is revoked`)
  if (client_id !== undefined && !(await isClient(client_id)))
    report(`neither the configuration nor the store has a client ${quoted(client_id)}`)
  // With an external login application, Sidegate does not know the users.
  if (sub === undefined || person || oauth.login.mode === 'handoff' || (await isClient(sub))) return
  report(`no user and no client has the subject ${quoted(sub)}`)
}

const toSentence = ({ client_id, sub, throughSec }: NotBefore, person: User | undefined): string => {
  const user = person ? `${person.username} (subject ${sub})` : `subject ${sub}`
  const targets = [sub !== undefined && `for ${user}`, client_id !== undefined && `to ${client_id}`].filter(Boolean)
  return `revoked: everything issued ${targets.join(' ')} until ${toInstant((throughSec + 1) * 1000)}; tokens issued from now on are valid`
}

/** One JSON object on standard output, with times in ISO 8601. */
const toJson = ({ client_id, sub, throughSec, untilMs }: NotBefore, person: User | undefined): string =>
  JSON.stringify({
    client: client_id,
    subject: sub,
    username: person?.username,
    issuedBefore: toInstant((throughSec + 1) * 1000),
    rememberedUntil: toInstant(untilMs),
  })

const toInstant = (atMs: number): string => new Date(atMs).toISOString()

/** A user of `login.users`, with the subject of its tokens. */
interface User {
  readonly username: string
  readonly sub: string
}

/**
 * The users of the embedded sign-in page, with their subjects.
 * @param records the keys of the store: a subject that the configuration does not name is a digest under one of them
 * @throws Error if there is such a subject, and no gateway has created that key yet
 */
const readUsers = ({ oauth }: SidegateConfig, records: readonly KeyRecord[]): readonly User[] =>
  oauth.users.map(({ username, sub }) => ({ username, sub: sub ?? opaqueSub(username, toDigest(records)) }))
