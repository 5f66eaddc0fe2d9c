import { checkClient } from './checks/clients.ts'
import { checkFapiClient } from './checks/fapi-profile.ts'
import { type ConfigSection, parseSection } from './parse/config-section.ts'
import type { ParsedClient } from './parse/parsed-config.ts'
import { clientSchema } from './schema/clients.ts'

export { clientAuthMethods } from '../oauth/clients/metadata.ts'
export { grantTypes } from '../oauth/protocol.ts'

/** A problem of one member of a client. */
export interface ClientFault {
  readonly member: string
  readonly message: string
}

/** The problems of a client that is not in a file yet. It is not checked whether its plan exists. */
export const findClientFaults = (client: Readonly<Record<string, unknown>>): readonly ClientFault[] => {
  const { section, faults } = parseSection(clientSchema, client, [], [])
  const all = faults.length > 0 || !section ? faults : checkWhole(section)
  return all.map(({ path: [member], message }) => ({ member: String(member), message }))
}

const checkWhole = (client: ConfigSection<ParsedClient>) => [
  ...checkClient(client.value),
  ...(client.value.profile === 'fapi2' ? checkFapiClient(client) : []),
]
