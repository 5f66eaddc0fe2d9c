import { systemClock } from '../../clock.ts'
import { type ClientFault, findClientFaults } from '../../config/new-client.ts'
import { createStoredClientReader } from '../../config/stored-client.ts'
import { isKnownSubject } from '../../oauth/interaction/known-subjects.ts'
import { findDigest } from '../../oauth/keys/loaded-keys.ts'
import { setNotBefore } from '../../oauth/tokens/not-before.ts'
import type { Store } from '../../stores/ports/store.ts'
import { type Command, parseOptions, UsageError } from '../command.ts'
import { loadOrReport, requireConfigFile } from '../config-file.ts'
import { withOperatedStore } from '../operator-store.ts'
import { printErrorLine, printLine } from '../output.ts'
import { printOwn, toListItem } from './client-yaml.ts'
import { createCredential, type NewCredential } from './generate-credential.ts'
import { type ClientOptions, type ClientProof, chooseProof, clientOptionTypes } from './options.ts'
import { findScopeNotes } from './scope-hints.ts'
import { quoted } from './store.ts'

/** Creates a client: prints its secret or key once, and the YAML for the configuration, which contains neither. */
export const clientNew: Command = {
  name: 'client new',
  synopsis:
    '--id ID --grant GRANT [--grant GRANT]… [--redirect-uri URI]… [--scope SCOPES] [--name NAME] [--plan PLAN] [--profile fapi2] [--public | --auth-method METHOD] [--subject-dn DN | --certificate FILE | --jwks-uri URI] [--dpop] [--save --config FILE]',
  summary:
    'creates a client with a generated secret or key; prints it once, with the YAML to paste, or saves the client in the store',
  run: args => {
    const options = parseOptions(args, clientOptionTypes, explainExtra)
    const proof = chooseProof(options)
    const { members, own } = createCredential(proof.authMethod, options)
    const client = toClient(options, proof, members)
    const faults = findClientFaults(client)
    if (faults.length > 0) throw new UsageError(faults.map(toSentence).join('; '))
    if (options.save) return save(client, own, options.config)
    return print(client, own)
  },
}

/** Prints the client for the configuration. */
const print = async (client: Members, own: NewCredential['own']): Promise<number> => {
  if (own) await printOwn(own)
  printLine('# paste under clients:')
  printLine(toListItem(client))
  return 0
}

/** Saves the client in the store. Every gateway that shares the store serves the client from then on. */
const save = async (client: Members, own: NewCredential['own'], configFile: string | undefined): Promise<number> => {
  const client_id = String(client.client_id)
  const config = await loadOrReport(requireConfigFile(configFile))
  if (!config) return 1
  if (config.oauth.clients.has(client_id)) throw new Error(`the configuration has a client ${quoted(client_id)}`)
  const reading = createStoredClientReader(config).read(client_id, client)
  if (typeof reading === 'string') throw new Error(`the client does not fit the configuration: ${reading}`)
  const notes = await findScopeNotes(config, reading.scope)
  const put = async (store: Store): Promise<void> => {
    const { clients, cutoffs } = store
    if (await clients.find(client_id)) throw alreadyStored(client_id)
    if (await isSubject(store, client_id)) throw isPersons(client_id)
    // Printed before the client is stored, because otherwise a client could remain whose secret could not be written.
    if (own) await printOwn(own)
    // Revokes everything that was issued to an earlier client with the same id, however that client was removed.
    if (await clients.wasForgotten(client_id)) await setNotBefore(cutoffs, systemClock, { client_id }, config.oauth)
    const isNew = await clients.put(client_id, { members: JSON.stringify(client), disabled: false }, undefined)
    if (!isNew) throw alreadyStored(client_id)
    await takeBackIfSubject(store, client_id)
  }
  await withOperatedStore(config, 'the clients', put, 'make')
  for (const note of notes) printErrorLine(`sidegate: ${note}`)
  printLine(`${client_id} is in the store, and served within a second`)
  return 0
}

const isSubject = async ({ keys, subjects }: Store, client_id: string): Promise<boolean> => {
  const digest = findDigest(await keys.load(systemClock.nowMs()))
  // Without that key no process has served a hand-off from this store.
  return digest !== undefined && isKnownSubject(subjects, client_id, digest)
}

/**
 * The login application may have named the subject while the client was created; the gateway looks for a client after
 * it has remembered a subject.
 */
const takeBackIfSubject = async (store: Store, client_id: string): Promise<void> => {
  if (!(await isSubject(store, client_id))) return
  const known = await store.clients.find(client_id)
  await store.clients.put(client_id, undefined, known?.version)
  throw isPersons(client_id)
}

const isPersons = (client_id: string): Error =>
  new Error(
    `${quoted(client_id)} is the sub of a user that has signed in through login.url, so the client could be mistaken for that user (RFC 9700 section 4.15); choose another id`,
  )

const alreadyStored = (client_id: string): Error =>
  new Error(`the store has a client ${quoted(client_id)} already; sidegate client list shows it`)

/** The argument is not a secret, because the command generates secrets itself. */
const explainExtra = (argument: string): string =>
  `no option takes ${JSON.stringify(argument)}; repeat the option for each value, as in --grant authorization_code --grant refresh_token`

type Members = Readonly<Record<string, unknown>>

const toClient = (options: ClientOptions, { authMethod, isFapi }: ClientProof, credential: Members): Members => {
  const redirectUris = options['redirect-uri']
  const isBoundByDpop = options.dpop || (isFapi && authMethod === 'private_key_jwt')
  return {
    client_id: options.id,
    ...(isFapi && { profile: 'fapi2' }),
    ...credential,
    ...(options.name && { client_name: options.name }),
    grant_types: options.grant,
    ...(redirectUris && { redirect_uris: redirectUris }),
    // RFC 8252 section 7.3: only an app on the user's own machine uses http for its redirect URI.
    ...(redirectUris?.some(uri => uri.startsWith('http:')) && { application_type: 'native' }),
    ...(options.scope && { scope: options.scope.join(' ') }),
    token_endpoint_auth_method: authMethod,
    ...(isBoundByDpop && { dpop_bound_access_tokens: true }),
    ...(isFapi && !isBoundByDpop && { tls_client_certificate_bound_access_tokens: true }),
    ...(options.plan && { plan: options.plan }),
  }
}

const toSentence = ({ member, message }: ClientFault): string => `${optionOf.get(member) ?? member}: ${message}`

const optionOf: ReadonlyMap<string, string> = new Map([
  ['client_id', '--id'],
  ['client_name', '--name'],
  ['redirect_uris', '--redirect-uri'],
  ['scope', '--scope'],
  ['tls_client_auth_subject_dn', '--subject-dn'],
  ['jwks', '--certificate'],
  ['jwks_uri', '--jwks-uri'],
])
