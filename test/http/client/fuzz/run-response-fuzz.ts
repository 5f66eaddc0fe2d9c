import { mutateRequests } from '../../fuzz/mutate-request.ts'
import { createRandomSource, type RandomSource } from '../../fuzz/random-source.ts'
import { findDeviation, refusedByNode, refusedByOurs } from './deviations.ts'
import { generateResponse, type ResponseCase } from './generate-response.ts'
import { readAllAsNode } from './node-client.ts'
import type { ResponseReading } from './response-reading.ts'

export interface ResponseFuzzOptions {
  readonly seed: number
  readonly responses: number
  readonly read: (response: ResponseCase, pieces: readonly Buffer[]) => ResponseReading
}

export interface ResponseFuzzResult {
  /** How often the two parsers agreed, and how often each row of the deviations explains that they do not. */
  readonly verdicts: ReadonlyMap<string, number>
  /** The answers that the parsers read differently without an explanation: ten at most. */
  readonly violations: readonly string[]
}

/** Node reads so many at a time, each on a connection of its own. */
const batchSize = 500

/**
 * Mutates half of the responses. Node's client reads each in one piece, and ours reads it in one piece and in several.
 */
export const runResponseFuzz = async (options: ResponseFuzzOptions): Promise<ResponseFuzzResult> => {
  const random = createRandomSource(options.seed)
  const verdicts = new Map<string, number>()
  const violations: string[] = []
  for (let done = 0; done < options.responses; done += batchSize) {
    const cases = Array.from({ length: Math.min(batchSize, options.responses - done) }, () => nextCase(random))
    const readings = await withoutStackTraces(() => readAllAsNode(cases))
    for (const [place, response] of cases.entries()) {
      const verdict = judge(response, readings[place] as ResponseReading, options, random)
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
      const isViolation = verdict.startsWith('violation')
      if (isViolation && violations.length < 10) violations.push(`${verdict}: ${JSON.stringify(response)}`)
    }
  }
  return { verdicts, violations }
}

const nextCase = (random: RandomSource): ResponseCase => {
  const response = generateResponse(random)
  if (random.chance(0.5)) return response
  return { ...response, bytes: mutateRequests(random, response.bytes, generateResponse(random).bytes) }
}

const judge = (
  response: ResponseCase,
  node: ResponseReading,
  { read }: ResponseFuzzOptions,
  random: RandomSource,
): string => {
  const bytes = Buffer.from(response.bytes, 'latin1')
  const ours = read(response, [bytes])
  if (!agree(read(response, cut(bytes, random)), ours)) return 'violation: the pieces are read differently'
  if (ours.is === 'accepted') {
    if (node.is === 'accepted') return isEqual(ours, node) ? 'same' : 'violation: both accept, and read differently'
    const row = findDeviation(refusedByNode, node.reason, response)
    return row ? `node refuses: ${row.reason}` : `violation: Node refuses, ${node.reason}`
  }
  if (node.is === 'refused') return 'both refuse'
  const row = findDeviation(refusedByOurs, ours.reason, response)
  return row ? `ours refuses: ${row.reason}` : `violation: ours refuses, ${ours.reason}`
}

/** One to four pieces, now and then single bytes. */
const cut = (bytes: Buffer, random: RandomSource): readonly Buffer[] => {
  if (random.chance(0.05)) return [...bytes].map(byte => Buffer.of(byte))
  const places = Array.from({ length: random.int(4) }, () => random.int(bytes.length + 1)).toSorted((a, b) => a - b)
  return [0, ...places].map((from, nth) => bytes.subarray(from, places[nth] ?? bytes.length))
}

const isEqual = (one: ResponseReading, other: ResponseReading): boolean => JSON.stringify(one) === JSON.stringify(other)

/** A fault may be noticed earlier in pieces, by another reason. */
const agree = (pieces: ResponseReading, whole: ResponseReading): boolean =>
  whole.is === 'refused' ? pieces.is === 'refused' : isEqual(pieces, whole)

/** Node creates an error for each answer that it refuses. With a stack trace it costs more than the parsing. */
const withoutStackTraces = async <T>(run: () => Promise<T>): Promise<T> => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return await run()
  } finally {
    Error.stackTraceLimit = limit
  }
}
