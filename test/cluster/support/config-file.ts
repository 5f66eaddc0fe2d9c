import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { eventually } from '../../support/eventually.ts'
import type { RunningSidegate, TestConfig } from '../../support/sidegate.ts'
import { logEntries } from './gateway.ts'

export const configFileOf = (sidegate: RunningSidegate): string => join(sidegate.dir, 'sidegate.yaml')

/** Replaces the text of a gateway's configuration atomically. */
export const writeConfig = (sidegate: RunningSidegate, text: string): void => {
  writeFileSync(`${configFileOf(sidegate)}.next`, text)
  renameSync(`${configFileOf(sidegate)}.next`, configFileOf(sidegate))
}

/** The text of a gateway's configuration with some of its keys changed. */
export const changedConfig = (sidegate: RunningSidegate, changes: TestConfig): string =>
  stringify({ ...parse(readFileSync(configFileOf(sidegate), 'utf8')), ...changes })

/** How many reloads of a gateway have succeeded or failed so far. */
const countReloads = (sidegate: RunningSidegate): number =>
  logEntries(sidegate, 'config_reloaded').length + logEntries(sidegate, 'config_refused').length

/** Changes the configuration and waits until the gateway has served or refused it. */
export const reload = async (
  sidegate: RunningSidegate,
  config: TestConfig | string,
  ask: () => void = () => sidegate.kill('SIGHUP'),
): Promise<void> => {
  const before = countReloads(sidegate)
  writeConfig(sidegate, typeof config === 'string' ? config : changedConfig(sidegate, config))
  ask()
  await eventually(() => countReloads(sidegate) > before)
}
