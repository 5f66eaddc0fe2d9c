import { identifierFault } from '../config/values/identifier.ts'
import { UsageError } from './command.ts'

/** A name that is written down or repeated whether anybody has it. @throws UsageError where nobody can have it */
export const requireIdentifier = (what: string, text: string): string => {
  const fault = identifierFault(what)(text)
  if (fault !== undefined) throw new UsageError(fault)
  return text
}
