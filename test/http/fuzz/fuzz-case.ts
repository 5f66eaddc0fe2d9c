import { generateRequests } from './generate-request.ts'
import { mutateRequests } from './mutate-request.ts'
import { createRandomSource, type RandomSource } from './random-source.ts'

/** The bytes of one connection. */
export interface FuzzCase {
  readonly seed: number
  /** Seed and index alone produce the case again. */
  readonly index: number
  readonly bytes: Buffer
  /** The same bytes, cut at random places. */
  readonly pieces: readonly Buffer[]
}

export const createFuzzCase = (seed: number, index: number): FuzzCase => {
  const random = createRandomSource(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
  const text = random.chance(0.5) ? generateRequests(random, random.pick(oddities)) : mutated(random)
  const bytes = Buffer.from(text, 'latin1')
  return { seed, index, bytes, pieces: cut(random, bytes) }
}

const oddities = [0, 0.05, 0.1, 0.2, 0.4] as const

const mutated = (random: RandomSource): string =>
  mutateRequests(random, generateRequests(random, random.pick([0, 0, 0.05])), generateRequests(random, 0))

const cut = (random: RandomSource, bytes: Buffer): readonly Buffer[] => {
  const places = placesToCut(random, bytes)
  return [...places, bytes.length].map((place, i) => bytes.subarray(places[i - 1] ?? 0, place))
}

/** Strictly rising places, none of them 0 or the end. */
const placesToCut = (random: RandomSource, bytes: Buffer): readonly number[] => {
  if (bytes.length < 2) return []
  if (bytes.length < 300 && random.chance(0.05)) return Array.from({ length: bytes.length - 1 }, (_, i) => i + 1)
  const places = new Set<number>()
  for (let left = 1 + random.int(5); left > 0; left--) {
    const somewhere = 1 + random.int(bytes.length - 1)
    // The halves of line ends are where parsers lose their place.
    const lineFeed = random.chance(0.5) ? bytes.indexOf(0x0a, somewhere) : -1
    places.add(lineFeed > 0 ? lineFeed : somewhere)
  }
  return [...places].sort((a, b) => a - b)
}
