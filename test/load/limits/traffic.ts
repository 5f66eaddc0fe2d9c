import { createRandom } from '../../support/random.ts'

/** One planned request: at which millisecond of the run, and of which client. */
export interface Send {
  readonly atMs: number
  readonly client: string
}

/** So often a second, evenly. */
export const evenly = (client: string, perSec: number, lastsMs: number): readonly Send[] =>
  Array.from({ length: Math.round((perSec * lastsMs) / 1000) }, (_, i) => ({ atMs: (i * 1000) / perSec, client }))

/** So many, the first and the last exactly then, and evenly between. */
export const burst = (client: string, count: number, fromMs: number, untilMs: number): readonly Send[] =>
  Array.from({ length: count }, (_, i) => ({
    atMs: fromMs + ((untilMs - fromMs) * i) / Math.max(1, count - 1),
    client,
  }))

/** Evenly, each request by a client drawn by Zipf's law: the nth of them one nth as often as the first. */
export const byZipf = (clients: readonly string[], perSec: number, lastsMs: number): readonly Send[] => {
  const random = createRandom(1)
  let total = 0
  const upTo = clients.map((_, place) => {
    total += 1 / (place + 1)
    return total
  })
  const draw = (): string => {
    const drawn = random() * total
    return clients[upTo.findIndex(weight => drawn < weight)] ?? ''
  }
  return evenly('', perSec, lastsMs).map(({ atMs }) => ({ atMs, client: draw() }))
}

export const inOrder = (parts: readonly (readonly Send[])[]): readonly Send[] =>
  parts.flat().toSorted((a, b) => a.atMs - b.atMs)
