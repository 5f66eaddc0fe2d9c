import { internedMetadataOf } from '../oauth/clients/interned-metadata.ts'
import type { StoredClientReader } from '../oauth/clients/joined-clients.ts'
import type { ClientMembers } from '../oauth/clients/stored-clients.ts'
import { checkStoredClient, type StoredClientSetting } from './checks/stored-client.ts'
import { createCachedParse } from './parse/cached-parse.ts'
import { parseSection } from './parse/config-section.ts'
import { type ClientDefaults, toClient } from './resolve/resolve-client.ts'
import { clientSchema } from './schema/clients.ts'
import { type Fault, pathText } from './source/diagnostic.ts'

/** Reads clients of the store as strictly as clients of a file, by the same schema and checks. */
export const createStoredClientReader = (config: StoredClientSetting): StoredClientReader => {
  const parse = createCachedParse(clientSchema)
  const defaults = defaultsOf(config)
  const parseMembers = (members: ClientMembers) => parseSection(clientSchema, members, [], [], parse)
  return {
    read(client_id, members) {
      const { section, faults } = parseMembers(members)
      if (!section || faults.length > 0) return toReason(faults)
      const misfits = checkStoredClient(section, client_id, config)
      return misfits.length > 0 ? toReason(misfits) : toClient(section.value, defaults)
    },
    metadataOf(members) {
      const { section } = parseMembers(members)
      return section && internedMetadataOf(toClient(section.value, defaults))
    },
  }
}

/** A client may leave out its plan if there is only one. */
const defaultsOf = ({ oauth, plans }: StoredClientSetting): ClientDefaults => ({
  profile: oauth.profile,
  alg: oauth.accessToken.alg,
  plan: Object.keys(plans)[0] ?? '',
})

const toReason = (faults: readonly Fault[]): string =>
  faults.map(({ path, message }) => `${pathText(path)}: ${message}`).join('; ')
