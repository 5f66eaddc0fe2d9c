import { ownMember, setOwnMember } from '../../own-member.ts'
import type { Fault } from './diagnostic.ts'
import { walkTree } from './walk-tree.ts'

/** `$${` (a literal), a well-formed reference, or a `${` that is neither. */
const reference = /\$(\$\{)|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{/g

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every text value, in place. As in a shell, the default is also used if
 * NAME is set but empty. `$${` is a literal `${`. The value of a variable is not substituted again.
 * @returns faults for what could not be replaced; the values in question are `undefined` in the tree
 */
export const substituteEnvironment = (tree: unknown, env: NodeJS.ProcessEnv): readonly Fault[] => {
  const faults: Fault[] = []
  walkTree(tree, (holder, step, place) => {
    const text = ownMember(holder, step)
    if (typeof text !== 'string' || !text.includes('${')) return
    const refuse = (message: string): void => {
      faults.push({ path: [...place, step], at: 'value', message })
    }
    setOwnMember(holder, step, substituteText(text, env, refuse))
  })
  return faults
}

/** A text without its variables, or with their defaults if `defaults` is set. */
export const textWithoutVariables = (text: string, { defaults }: { readonly defaults: boolean }): string =>
  text.replace(reference, (_, literal?: string, _name?: string, fallback = '') => literal ?? (defaults ? fallback : ''))

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
    if (!name) return fail(`is not a reference; write \${NAME} or \${NAME:-default}, and $\${ for a literal \${`)
    const value = ownMember(env, name)
    if (fallback !== undefined) return value || fallback
    return value ?? fail(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`)
  })
  return whole ? result : undefined
}
