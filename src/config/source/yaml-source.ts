import type { ErrorCode } from 'yaml'
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { setOwnMember } from '../../own-member.ts'
import { type Fault, type Path, pathKey } from './diagnostic.ts'
import { surveyNodes, type YamlNodes } from './yaml-nodes.ts'

/** A position in the text, both counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A problem of the YAML syntax. */
export interface SyntaxFault {
  readonly position: Position
  readonly message: string
}

/** A YAML text as plain mutable data, with the position of each value in the text. */
export interface YamlSource {
  /** Mappings without prototype, arrays and scalars. A key without value is present and `undefined`. */
  readonly tree: unknown
  /** Problems of the YAML syntax. `tree` is still usable if all of them are duplicate keys. */
  readonly syntaxFaults: readonly SyntaxFault[]
  readonly usable: boolean
  /** The position of a fault. If the value is missing, it is that of the nearest mapping around it. */
  positionOf(fault: Pick<Fault, 'path' | 'at'>): Position
  /** Makes faults of one path point to the position of another. */
  redirect(from: Path, to: Path): void
}

interface Span {
  readonly key: number
  readonly value: number
}

/** Parses one YAML 1.2 document. Never throws: every problem becomes a fault. */
export const parseYamlSource = (text: string): YamlSource => {
  const lines = new LineCounter()
  // `prettyErrors` is off, because the library's messages would quote the text, which may contain a secret. There are
  // no known tags, because !!binary would convert a text to a Buffer, and !!timestamp to a Date.
  const options = { prettyErrors: false, stringKeys: true, uniqueKeys: false, resolveKnownTags: false } as const
  const document = parseDocument(text, { lineCounter: lines, ...options })
  const nodes = surveyNodes(document)
  const spans = new Map<string, Span>()
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const faultAt = (offset: number, code: ErrorCode): SyntaxFault => ({
    position: positionAt(offset),
    message: sentenceOf(code),
  })
  const errors = [...document.errors, ...document.warnings].map(({ code, pos }) => faultAt(pos[0], code))
  const faults = [...errors, ...nodes.doubledKeys.map(offset => faultAt(offset, 'DUPLICATE_KEY'))]
  const usable = errors.length === 0
  const onBadAlias = (offset: number, message: string): void => {
    faults.push({ position: positionAt(offset), message })
  }
  return {
    tree: usable && document.contents ? toPlain(nodes, document.contents, spans, onBadAlias) : undefined,
    syntaxFaults: faults,
    usable,
    positionOf: fault => positionAt(offsetOf(fault, spans)),
    redirect: (from, to) => {
      const span = spans.get(pathKey(to))
      if (span) spans.set(pathKey(from), span)
    },
  }
}

/** More than any configuration needs. */
const maxAliases = 1000
const tooManyAliases = `too many aliases, those inside aliases counted each time: at most ${maxAliases}`

const toPlain = (
  nodes: YamlNodes,
  root: Node,
  spans: Map<string, Span>,
  onBadAlias: (offset: number, message: string) => void,
): unknown => {
  let aliases = 0
  const session = (node: unknown, path: Path, keyOffset: number, above: readonly unknown[]): unknown => {
    if (isAlias(node)) {
      aliases++
      // Aliases of aliases multiply: a small file could need more memory than there is.
      if (aliases === maxAliases) onBadAlias(startOf(node) ?? keyOffset, tooManyAliases)
      if (aliases >= maxAliases) return undefined
      const target = nodes.targetOf(node)
      // An anchor that contains itself is infinite.
      if (target && !above.includes(target)) return session(target, path, keyOffset, above)
      return onBadAlias(startOf(node) ?? keyOffset, sentenceOf('BAD_ALIAS'))
    }
    spans.set(pathKey(path), { key: keyOffset, value: startOf(node) ?? keyOffset })
    if (isSeq(node)) {
      return node.items.map((item, index) =>
        session(item, [...path, index], startOf(item) ?? keyOffset, [...above, node]),
      )
    }
    if (isMap(node)) {
      const mapping: Record<string, unknown> = Object.create(null)
      for (const pair of node.items) {
        if (!isPair(pair)) continue
        const name = String(isScalar(pair.key) ? pair.key.value : pair.key)
        const value = session(pair.value, [...path, name], startOf(pair.key) ?? keyOffset, [...above, node])
        setOwnMember(mapping, name, value)
      }
      return mapping
    }
    return isScalar(node) ? (node.value ?? undefined) : undefined
  }
  return session(root, [], startOf(root) ?? 0, [])
}

const startOf = (node: unknown): number | undefined => (node as Partial<Node> | null)?.range?.[0]

const offsetOf = ({ path, at }: Pick<Fault, 'path' | 'at'>, spans: ReadonlyMap<string, Span>): number => {
  const exact = spans.get(pathKey(path))
  if (exact) return exact[at]
  for (let length = path.length - 1; length > 0; length--) {
    const around = spans.get(pathKey(path.slice(0, length)))
    if (around) return around.key
  }
  return 0
}

const sentenceOf = (code: ErrorCode): string => sentences[code] ?? 'not valid YAML'

const sentences: Partial<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias cannot have a tag or an anchor; remove it',
  BAD_ALIAS: 'there is no complete value above with the anchor of this alias; define the anchor first',
  BAD_COLLECTION_TYPE: 'this tag does not fit the value; remove the tag',
  BAD_DQ_ESCAPE: 'unknown escape in a double-quoted text; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'wrong indentation; keys of one mapping and items of one list begin in the same column',
  BAD_SCALAR_START: 'a plain text cannot begin with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a mapping inside a mapping begins on a new line; put a text that contains ": " or ends with a colon in quotes',
  BLOCK_IN_FLOW: 'inside { } and [ ] put texts that contain braces, brackets or commas in quotes',
  DUPLICATE_KEY: 'this key occurs twice; keep one of the two',
  MISSING_CHAR: 'a colon, comma, quote or closing bracket is missing here',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line and be followed by a colon',
  MULTIPLE_DOCS: 'the file has a second document; keep one, without ---',
  NON_STRING_KEY: 'a key must be a text; put it in quotes',
  RESOURCE_EXHAUSTION: 'nested too deeply; no configuration is nested that deep',
  TAB_AS_INDENT: 'YAML cannot be indented with tabs; use spaces',
  TAG_RESOLVE_FAILED: 'unknown tag; remove it',
  UNEXPECTED_TOKEN: 'unexpected here; put a text with special characters in quotes',
}
