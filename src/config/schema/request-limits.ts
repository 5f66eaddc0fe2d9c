import { z } from 'zod'
import { count, durationMs, sizeBytes } from '../values/zod-scalars.ts'

/** Limits that apply to each connection and request before its content is examined. */
export const requestsSchema = z
  .strictObject({
    headerTimeout: durationMs(1)
      .prefault('10s')
      .describe("Longest time for a request's header, then 408. Default 10s."),
    timeout: durationMs(1)
      .prefault('5m')
      .describe('Longest time for a whole request, its body included, then 408. Default 5m.'),
    keepAlive: durationMs(1)
      .prefault('75s')
      .describe('How long a connection is kept between two requests. Default 75s.'),
    sendTimeout: durationMs(1)
      .prefault('1m')
      .describe('Longest time for which a client takes nothing of its answer, then its connection ends. Default 1m.'),
    maxHeader: sizeBytes('1KiB', '1MiB')
      .prefault('16KiB')
      .describe("Most bytes of a request's header, then 431. Default 16KiB."),
    maxFields: count(10, 2_000).default(100).describe("Most fields of a request's header, then 431. Default 100."),
    maxConnections: count(10, 1_000_000)
      .default(20_000)
      .describe('Most connections at a time; each worker has its share. Then idle ones make room. Default 20000.'),
  })
  .prefault({})
  .describe('How long requests may take to come, how large their headers may be, and over how many connections.')
