/**
 * Finds the places in source files that look up a member of an object by a text that the types do not know:
 * `table[name]`, `name in table` and `const { [name]: value } = table`. Every object inherits `constructor`,
 * `toString` and `__proto__`, so a text from a stranger finds these in any table. The type checker decides: a key of
 * literal types, a number or a symbol is no such text.
 */
import { join, relative } from 'node:path'
import { type Expression, type Node, SyntaxKind } from 'typescript/unstable/ast'
import {
  isAsExpression,
  isBinaryExpression,
  isBindingElement,
  isComputedPropertyName,
  isElementAccessExpression,
} from 'typescript/unstable/ast/is'
import { API, type Checker, type Type, TypeFlags, type UnionType } from 'typescript/unstable/sync'

export interface ObjectLookup {
  /** Relative to the folder of the project. */
  readonly file: string
  readonly line: number
  readonly text: string
}

/** @param folder the one with the `tsconfig.json`; only files below `below` are searched */
export const findObjectLookups = (
  folder: string,
  below: string,
): { files: number; lookups: readonly ObjectLookup[] } => {
  const config = join(folder, 'tsconfig.json')
  const api = new API({ cwd: folder })
  try {
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (!project) throw new Error(`${config} is no project`)
    const { program, checker } = project
    const names = program.getSourceFileNames().filter(name => name.startsWith(join(folder, below)))
    const lookups = names.flatMap(name => {
      const file = program.getSourceFile(name)
      if (!file) throw new Error(`${name} cannot be read`)
      return lookupsIn(file)
        .filter(({ key }) => isOpen(key, checker))
        .map(({ node }) => ({
          file: relative(folder, name),
          line: file.text.slice(0, node.getStart(file)).split('\n').length,
          text: node.getText(file),
        }))
    })
    return { files: names.length, lookups }
  } finally {
    api.close()
  }
}

interface Lookup {
  readonly node: Node
  readonly key: Expression
}

const lookupsIn = (file: Node): readonly Lookup[] => {
  const found: Lookup[] = []
  const visit = (node: Node): void => {
    const key = keyOf(node)
    if (key) found.push({ node, key })
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

const keyOf = (node: Node): Expression | undefined => {
  if (isElementAccessExpression(node)) return node.argumentExpression
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword) return node.left
  if (isBindingElement(node) && node.propertyName && isComputedPropertyName(node.propertyName)) {
    return node.propertyName.expression
  }
  return undefined
}

/** A type assertion says nothing about the text that is there when the program runs. */
const isOpen = (key: Expression, checker: Checker): boolean => {
  if (isAsExpression(key)) return true
  const type = checker.getTypeAtLocation(key)
  return type === undefined || isOpenType(type)
}

const isOpenType = (type: Type): boolean =>
  (type.flags & TypeFlags.Union) === 0
    ? (type.flags & openFlags) !== 0
    : (type as UnionType).getTypes().some(isOpenType)

const openFlags =
  TypeFlags.Any |
  TypeFlags.Unknown |
  TypeFlags.String |
  TypeFlags.TemplateLiteral |
  TypeFlags.StringMapping |
  TypeFlags.TypeParameter |
  TypeFlags.Index |
  TypeFlags.IndexedAccess |
  TypeFlags.Conditional |
  TypeFlags.Intersection
