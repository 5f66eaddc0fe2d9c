import { findRestartOnlyChange } from '../../app/primary.ts'
import type { SidegateConfig } from '../../app.ts'
import type { Clock } from '../../clock.ts'
import { firstLineOf } from '../../errors.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Recorder } from '../../telemetry/recorder.ts'
import { encodeConfig } from '../ipc/config-codec.ts'
import type { EncodedConfig } from '../messages.ts'
import type { Workers } from '../supervisor/worker-pool.ts'
import type { ConfigSource } from './config-source.ts'
import { createVote, type Vote } from './vote.ts'

/** The configuration that is served now, and its replacement by the next one. */
export interface Reload extends Pick<Vote, 'record' | 'drop'> {
  config(): SidegateConfig
  /** The same configuration, encoded for the workers. */
  encodedConfig(): EncodedConfig
  /** For a person: `ok`, or the time at which changed files were refused. */
  finding(): string
  /**
   * Reads the files and serves their configuration if it is valid; otherwise nothing changes. Reloads run one at a
   * time.
   */
  now(cause: ReloadCause): Promise<void>
}

export type ReloadCause = 'signal' | 'file'

export interface ReloadOptions {
  /** The configuration that is served first. */
  readonly config: SidegateConfig
  readonly source: ConfigSource
  readonly workers: Pick<Workers, 'names' | 'tell'>
  readonly log: Logger
  readonly recorder: Recorder
  readonly clock: Clock
}

/**
 * If the files are valid but a worker cannot serve them yet, for example because the store does not answer, the reload
 * is retried after this time.
 */
const retryAfterMs = 5000

export const createReload = (options: ReloadOptions): Reload => {
  const { source, workers, log, recorder, clock } = options
  const successful = recorder.gauge('configReloadSuccessful', [])
  const succeededAt = recorder.gauge('configReloadTimestamp', [])
  const vote = createVote(workers)
  let served = { config: options.config, encodedConfig: encodeConfig(options.config) }
  let lastId = 0
  let underWay = Promise.resolve()
  let retry: NodeJS.Timeout | undefined
  /** The time at which the files were last refused; undefined if their last content is served. */
  let refusedAtMs: number | undefined

  const succeed = (): void => {
    refusedAtMs = undefined
    successful.set(1)
    succeededAt.set(clock.nowMs() / 1000)
  }
  const fail = (cause: ReloadCause, problems: readonly string[]): void => {
    refusedAtMs = clock.nowMs()
    successful.set(0)
    log.error({ event: 'config_refused', cause, problems }, 'the configuration cannot be served: kept the old one')
  }

  const reload = async (cause: ReloadCause): Promise<void> => {
    clearTimeout(retry)
    const loaded = await source.load()
    if (!loaded.ok) return fail(cause, loaded.problems)
    const { config } = loaded
    const fixed = findRestartOnlyChange(served.config, config)
    if (fixed !== undefined) return fail(cause, [fixed])
    lastId++
    const id = lastId
    const encodedConfig = encodeConfig(config)
    const refusal = await vote.begin(id, encodedConfig)
    if (refusal !== undefined) {
      workers.tell({ type: 'abort', id })
      retry = setTimeout(() => void now(cause), retryAfterMs).unref()
      return fail(cause, [refusal])
    }
    served = { config, encodedConfig }
    workers.tell({ type: 'commit', id })
    succeed()
    log.info({ event: 'config_reloaded', cause }, 'a new configuration is served')
  }

  const now = (cause: ReloadCause): Promise<void> => {
    underWay = underWay.then(() => reload(cause)).catch(error => fail(cause, [firstLineOf(error)]))
    return underWay
  }

  succeed()
  return {
    config: () => served.config,
    encodedConfig: () => served.encodedConfig,
    finding: () =>
      refusedAtMs === undefined ? 'ok' : `refused at ${timeText(refusedAtMs)}; the one before it is served`,
    now,
    record: vote.record,
    drop: vote.drop,
  }
}

/** `2026-01-31T23:59:59Z` */
const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
