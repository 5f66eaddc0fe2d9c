import { ownMember, setOwnMember } from '../../own-member.ts'
import { walkTree } from './walk-tree.ts'

/**
 * The data of a JSON text. Undefined if it is not JSON, or if an object has a key twice: then the YAML reader, which
 * reads JSON too, reports the problem and its position. That takes a hundred times as long, which would delay every
 * start with a hundred thousand clients.
 * @returns the result of `JSON.parse`; `null` becomes `undefined`, as a YAML key without value does
 */
export const readPlainJson = (text: string): unknown => {
  if (!/^\s*\{/.test(text)) return undefined
  const { colons, depth } = survey(text)
  if (depth > maxDepth) return undefined
  const tree = tryParse(text)
  // If an object has a key twice, `JSON.parse` keeps only the last one.
  return dropNull(tree) === colons ? tree : undefined
}

/** No configuration is nested that deep; the YAML reader reports it. */
const maxDepth = 100

interface Survey {
  /** Colons outside of strings: as many as there are keys. */
  readonly colons: number
  /** The maximum nesting of objects and arrays. */
  readonly depth: number
}

/** Counts the colons and the nesting of a text that may be JSON. */
const survey = (text: string): Survey => {
  let colons = 0
  let open = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at)
        break
      case ':':
        colons++
        break
      case '{':
      case '[':
        open++
        depth = Math.max(depth, open)
        break
      case '}':
      case ']':
        open--
    }
  }
  return { colons, depth }
}

/** The position of the closing quote of the string that begins here. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/** Whether an odd number of backslashes precedes this position. */
const isEscaped = (text: string, at: number): boolean => {
  let before = at - 1
  while (text[before] === '\\') before--
  return (at - before) % 2 === 0
}

/** Errors of `JSON.parse` quote the text, which may contain a secret, so they are dropped. */
const tryParse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Replaces each `null` by `undefined`.
 * @returns the number of keys
 */
const dropNull = (tree: unknown): number => {
  let keys = 0
  walkTree(tree, (holder, step) => {
    if (typeof step === 'string') keys++
    if (ownMember(holder, step) === null) setOwnMember(holder, step, undefined)
  })
  return keys
}
