import { systemClock } from '../../clock.ts'
import { parseDurationMs } from '../../config/lint/lint.ts'
import type { SidegateConfig } from '../../config/load.ts'
import { createStoredClientReader } from '../../config/stored-client.ts'
import type { ClientRegistration } from '../../oauth/clients/metadata.ts'
import { parseMembers } from '../../oauth/clients/stored-clients.ts'
import type { KnownClient } from '../../stores/ports/clients.ts'
import { type Command, parseNamed, UsageError } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printLine } from '../output.ts'
import { printOwn, toListItem } from './client-yaml.ts'
import { createSecret } from './generate-credential.ts'
import { heldSecrets, rotateSecret } from './rotate-secret-list.ts'
import { quoted, unknownClient, withClientStore } from './store.ts'

const defaultKeep = '24h'

/** Generates another secret for a client, printed once. The current one remains valid for some time. */
export const clientRotateSecret: Command = {
  name: 'client rotate-secret',
  synopsis: 'CLIENT_ID --config FILE [--keep DURATION]',
  summary: `generates a new secret for a client; the current one remains valid for DURATION (${defaultKeep})`,
  run: async args => {
    const { name: client_id, options } = parseNamed(args, { ...configOption, keep: { type: 'string' } }, 'CLIENT_ID')
    const keepMs = parseKeep(options.keep ?? defaultKeep)
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const configured = config.oauth.clients.find(client_id)
    if (configured) await printRotation(configured, keepMs)
    else await storeRotation(config, client_id, keepMs)
    return 0
  },
}

const longestKeepMs = 366 * 86_400_000

const parseKeep = (text: string): number => {
  const keepMs = parseDurationMs(text)
  if (keepMs === undefined || keepMs > longestKeepMs)
    throw new UsageError('--keep takes a duration such as 0s, 1h or 30d, of at most 366d')
  return keepMs
}

const printRotation = async (client: ClientRegistration, keepMs: number): Promise<void> => {
  const { own, members } = await replaceSecret(client, keepMs)
  await printOwn(own)
  printLine('# replace every client_secret… of the client in the configuration by:')
  printLine(toListItem({ client_id: client.client_id, ...members }))
}

const storeRotation = async (config: SidegateConfig, client_id: string, keepMs: number): Promise<void> => {
  await withClientStore(config, async clients => {
    const known = await clients.find(client_id)
    const client = readKnown(config, client_id, known)
    const { own, members } = await replaceSecret(client, keepMs)
    // Printed before it is stored: with --keep 0s, a secret that could not be written would leave the client without
    // any.
    await printOwn(own)
    const { client_secrets, ...others } = parseMembers(known?.members ?? '{}')
    const record = { members: JSON.stringify({ ...others, ...members }), disabled: known?.disabled ?? false }
    const isWritten = await clients.put(client_id, record, known?.version)
    if (!isWritten) throw new Error(`another process has just changed ${quoted(client_id)}; check it, and try again`)
  })
  printLine(`${client_id} gets the new secret within a second`)
}

/**
 * @throws Error if the client does not exist, or does not fit the configuration and is therefore not served, with any
 * secret
 */
const readKnown = (config: SidegateConfig, client_id: string, known: KnownClient | undefined): ClientRegistration => {
  if (known?.members === undefined) throw unknownClient(client_id)
  const reading = createStoredClientReader(config).read(client_id, parseMembers(known.members))
  if (typeof reading === 'string') throw new Error(`${quoted(client_id)} does not fit the configuration: ${reading}`)
  return reading
}

/** Each valid secret is compared with every secret that is presented. */
const maxSecretsPerKind = 5

const replaceSecret = async (client: ClientRegistration, keepMs: number) => {
  const method = client.token_endpoint_auth_method
  if (!method.startsWith('client_secret_'))
    throw new Error(`${quoted(client.client_id)} has no secret (token_endpoint_auth_method: ${method})`)
  const { own, members } = createSecret()
  const nowMs = systemClock.nowMs()
  const rotated = rotateSecret(members.client_secret_hash, await heldSecrets(client), nowMs, nowMs + keepMs)
  const count = 1 + (rotated.client_secrets?.length ?? 0)
  if (count > maxSecretsPerKind)
    throw new Error(
      `${quoted(client.client_id)} would have ${count} valid secrets, but at most ${maxSecretsPerKind} are allowed; with --keep 0s the current ones end at once`,
    )
  return { own, members: rotated }
}
