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
      .describe(
        'Longest time for which a client reads nothing of a response, then its connection is closed. Default 1m.',
      ),
    maxHeader: sizeBytes('1KiB', '1MiB')
      .prefault('16KiB')
      .describe("Maximum size of a request's header, then 431. Default 16KiB."),
    maxFields: count(10, 2_000)
      .default(100)
      .describe("Maximum number of fields in a request's header, then 431. Default 100."),
    maxConnections: count(10, 1_000_000)
      .default(20_000)
      .describe(
        'Maximum number of connections; each worker has its share. Above it idle ones are closed. Default 20000.',
      ),
  })
  .prefault({})
  .describe('Timeouts and size limits of requests, and the maximum number of connections.')
