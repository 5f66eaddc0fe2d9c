import { stringify } from 'yaml'
import { findClientFaults } from '../config/new-client.ts'
import { type Command, parseOptions, printLine, UsageError } from './command.ts'
import { createCredential } from './new-credential.ts'

/** Makes a client: its secret or key, shown this once, and what to paste into the configuration, which holds neither. */
export const clientNew: Command = {
  name: 'client new',
  synopsis:
    '--id ID --grant GRANT… [--redirect-uri URI…] [--scope SCOPES] [--name NAME] [--plan PLAN] [--public | --auth-method METHOD [--subject-dn DN]]',
  summary: 'makes a client with a generated secret or key; prints it once and the YAML to paste',
  run: args => {
    const options = parseOptions(args, optionTypes)
    const { id, grant } = options
    if (!id) throw new UsageError('client new needs --id ID')
    if (!grant) throw new UsageError('client new needs --grant, such as --grant client_credentials')
    const authMethod = chooseAuthMethod(options)
    const { members, own } = createCredential(authMethod)
    const client = {
      client_id: id,
      ...members,
      ...(options['subject-dn'] && { tls_client_auth_subject_dn: options['subject-dn'] }),
      ...(options.name && { client_name: options.name }),
      grant_types: grant,
      ...(options['redirect-uri'] && { redirect_uris: options['redirect-uri'] }),
      ...(options.scope && { scope: options.scope.join(' ') }),
      token_endpoint_auth_method: authMethod,
      ...(options.plan && { plan: options.plan }),
    }
    const faults = findClientFaults(client)
    if (faults.length > 0) throw new UsageError(faults.join('; '))
    if (own) printLine(`${own.name}: ${own.value.reveal()}  # shown this once; give it to the client\n`)
    printLine('# paste under clients:')
    printLine(toListItem(client))
    return 0
  },
}

const optionTypes = {
  id: { type: 'string' },
  grant: { type: 'string', multiple: true },
  'redirect-uri': { type: 'string', multiple: true },
  scope: { type: 'string', multiple: true },
  name: { type: 'string' },
  plan: { type: 'string' },
  public: { type: 'boolean' },
  'auth-method': { type: 'string' },
  'subject-dn': { type: 'string' },
} as const

/** A public client is one without authentication, however it is said. */
const chooseAuthMethod = (options: { readonly public?: boolean; readonly 'auth-method'?: string }): string => {
  const method = options['auth-method'] ?? (options.public ? 'none' : 'client_secret_basic')
  if (options.public && method !== 'none') throw new UsageError(`--public excludes --auth-method ${method}`)
  return method
}

const toListItem = (client: Readonly<Record<string, unknown>>): string =>
  stringify([client], { lineWidth: 0 }).trimEnd().replace(/^/gm, '  ')
