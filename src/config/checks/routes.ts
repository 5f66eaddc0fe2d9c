import { operationLabel } from '../../gateway/operation.ts'
import { isInvalid } from '../parse/config-section.ts'
import type { GroupedOperation, ParsedConfig } from '../parse/parsed-config.ts'
import { toOperationView } from '../resolve/effective-operation.ts'
import { type Fault, type Path, pathText } from '../source/diagnostic.ts'
import { isAmbiguous, literalPrefix } from '../values/path-pattern.ts'

/** A path by which an operation is reached: its own, or one of its aliases. */
interface Way {
  readonly method: string
  readonly path: string
  readonly operation: GroupedOperation
  readonly at: Path
}

/** Checks that no request matches two operations, and that no service is advertised twice. */
export const checkRoutes = (parsed: ParsedConfig): readonly Fault[] => [
  ...ambiguities(parsed.operations.flatMap(toWays)),
  ...doubleAdvertisements(parsed.operations),
]

const toWays = (operation: GroupedOperation): readonly Way[] => {
  if (['path', 'aliases'].some(field => isInvalid(operation.invalidPaths, field))) return []
  const { method, path, aliases } = toOperationView(operation)
  return [
    { method, path, operation, at: [...operation.path, 'path'] },
    ...aliases.map((alias, index) => ({ method, path: alias, operation, at: [...operation.path, 'aliases', index] })),
  ]
}

/** Compares each path with the earlier ones that could match the same requests; one fault for each path is enough. */
const ambiguities = (ways: readonly Way[]): readonly Fault[] => {
  const before = new Map<string, Way[]>()
  return ways.flatMap(way => {
    const key = `${way.method} ${literalPrefix(way.path)}`
    const rivals = before.get(key)
    const earlier = rivals?.find(other => isAmbiguous(other.path, way.path))
    if (rivals) rivals.push(way)
    else before.set(key, [way])
    if (!earlier) return []
    const message = `${operationLabel(way)} matches the same requests as ${operationLabel(earlier)} of ${pathText(earlier.operation.path)}; make one of the paths more specific, or remove it`
    return [{ path: way.at, at: 'value', message }]
  })
}

const doubleAdvertisements = (operations: readonly GroupedOperation[]): readonly Fault[] =>
  operations
    .filter(({ value }) => value.advertise)
    .filter(({ value }, index, all) => all.findIndex(other => other.value.serves === value.serves) < index)
    .map(({ path, value }) => ({
      path: [...path, 'advertise'],
      at: 'key',
      message: `another operation that serves ${value.serves} is advertised already; keep one of the two`,
    }))
