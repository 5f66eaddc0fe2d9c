import { checkClient } from './checks/clients.ts'
import { parseElement } from './element.ts'
import { clientSchema } from './schema/clients.ts'
import { pathText } from './source/problem.ts'

/** What is wrong with a client that is not in a file yet, a sentence each. Whether its plan exists is not asked. */
export const findClientFaults = (client: Readonly<Record<string, unknown>>): readonly string[] => {
  const { element, faults } = parseElement(clientSchema, client, [], [])
  const all = faults.length > 0 || !element ? faults : checkClient(element.value)
  return all.map(({ path, message }) => `${pathText(path)}: ${message}`)
}
