import { ownMember, setOwnMember } from '../../own-member.ts'
import { walkTree } from './walk-tree.ts'

/**
 * The data of a text that is JSON, or undefined where it is not, or where a key stands twice in one object: then the YAML
 * reader, which knows JSON too, says what is wrong and where. It takes a hundred times as long, which a file with a hundred
 * thousand clients would feel at every start.
 * @returns what `JSON.parse` makes of it; `null` becomes `undefined`, as a YAML key without value does
 */
export const readPlainJson = (text: string): unknown => {
  if (!/^\s*\{/.test(text)) return undefined
  const { colons, depth } = survey(text)
  if (depth > maxDepth) return undefined
  const tree = tryParse(text)
  // Of two equal keys of one object the last is left.
  return dropNull(tree) === colons ? tree : undefined
}

/** No part of a configuration goes that deep; the YAML reader says so. */
const maxDepth = 100

interface Survey {
  /** Outside of strings: as many as there are keys. */
  readonly colons: number
  /** How many objects and arrays stand in each other at most. */
  readonly depth: number
}

/** Goes over the signs of a text that may be JSON. */
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

/** Where the string that begins here has its closing quote. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/** Whether an odd number of backslashes stands before this place. */
const isEscaped = (text: string, at: number): boolean => {
  let before = at - 1
  while (text[before] === '\\') before--
  return (at - before) % 2 === 0
}

/** Its errors quote the text, which may hold a secret: nobody sees them. */
const tryParse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Makes each `null` in it `undefined`. @returns how many keys it has */
const dropNull = (tree: unknown): number => {
  let keys = 0
  walkTree(tree, (holder, step) => {
    if (typeof step === 'string') keys++
    if (ownMember(holder, step) === null) setOwnMember(holder, step, undefined)
  })
  return keys
}
