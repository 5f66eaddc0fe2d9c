import type { Fault } from './problem.ts'

/** The tree with every reference replaced, and what could not be. */
export interface Substituted {
  readonly tree: unknown
  /** The values these stand on are `undefined` in `tree`. */
  readonly faults: readonly Fault[]
}

/** `$${` (a literal), a well-formed reference, or a `${` that is neither. */
const reference = /\$(\$\{)|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{/g

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every text value; the default also serves where NAME is set but empty,
 * as in a shell. `$${` is a literal `${`. What a variable holds is not looked at again.
 */
export const substituteEnvironment = (tree: unknown, env: NodeJS.ProcessEnv): Substituted => {
  const faults: Fault[] = []
  const place: (string | number)[] = []
  const visitPart = (part: unknown, step: string | number): unknown => {
    place.push(step)
    const visited = visit(part)
    place.pop()
    return visited
  }
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (!value.includes('${')) return value
      return substituteText(value, env, message => faults.push({ path: [...place], at: 'value', message }))
    }
    if (Array.isArray(value)) return value.map(visitPart)
    if (typeof value !== 'object' || value === null) return value
    const mapping: Record<string, unknown> = Object.create(null)
    for (const key in value) mapping[key] = visitPart((value as Readonly<Record<string, unknown>>)[key], key)
    return mapping
  }
  return { tree: visit(tree), faults }
}

const substituteText = (
  text: string,
  env: NodeJS.ProcessEnv,
  refuse: (message: string) => void,
): string | undefined => {
  let whole = true
  const fail = (message: string): string => {
    whole = false
    refuse(message)
    return ''
  }
  const result = text.replace(reference, (_, literal?: string, name?: string, fallback?: string) => {
    if (literal) return literal
    if (!name) return fail(`not a reference; write \${NAME} or \${NAME:-default}, and $\${ for a literal \${`)
    if (fallback !== undefined) return env[name] || fallback
    return env[name] ?? fail(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`)
  })
  return whole ? result : undefined
}
