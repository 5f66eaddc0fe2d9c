import type { Path } from './diagnostic.ts'
import { readPlainJson } from './json-source.ts'
import { parseYamlSource, type YamlSource } from './yaml-source.ts'

/** Parses a configuration's text: YAML, or JSON, which is YAML too and is parsed much faster. */
export const parseSource = (text: string): YamlSource => {
  const tree = readPlainJson(text)
  return tree === undefined ? parseYamlSource(text) : fromJson(tree, text)
}

/** Positions are looked up only if there is a problem. */
const fromJson = (tree: unknown, text: string): YamlSource => {
  const redirects: [Path, Path][] = []
  let places: YamlSource | undefined
  const findPlaces = (): YamlSource => {
    const source = parseYamlSource(text)
    for (const [from, to] of redirects) source.redirect(from, to)
    return source
  }
  return {
    tree,
    syntaxFaults: [],
    usable: true,
    positionOf: fault => {
      places ??= findPlaces()
      return places.positionOf(fault)
    },
    redirect: (from, to) => void redirects.push([from, to]),
  }
}
