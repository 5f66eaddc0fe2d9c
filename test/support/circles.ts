/**
 * The strongly connected components of a directed graph that hold a circle, each sorted (Tarjan's algorithm).
 * @param graph the nodes, each with those that it leads to
 */
export const findCircles = (graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] => {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const circles: (readonly string[])[] = []

  const lower = (node: string, to: number | undefined): void =>
    void lowest.set(node, Math.min(lowest.get(node) ?? Infinity, to ?? Infinity))

  const takeComponent = (root: string): void => {
    const component = path.splice(path.indexOf(root)).toSorted()
    if (component.length > 1 || graph.get(root)?.includes(root)) circles.push(component)
  }

  const visit = (node: string): void => {
    order.set(node, order.size)
    lower(node, order.get(node))
    path.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) {
        visit(next)
        lower(node, lowest.get(next))
      } else if (path.includes(next)) lower(node, order.get(next))
    }
    if (lowest.get(node) === order.get(node)) takeComponent(node)
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return circles.toSorted()
}
