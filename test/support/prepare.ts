/**
 * Runs before the tests: makes sure that the programs they start are on this machine. What is missing is installed
 * where that is possible: by root, on Debian, unless SIDEGATE_TEST_INSTALL=no forbids it. Otherwise one line on stderr
 * says what to install, and the exit code is 1.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface Program {
  readonly command: string
  readonly debianPackage: string
}

const programs: readonly Program[] = [
  { command: 'redis-server', debianPackage: 'redis-server' },
  { command: 'chromium', debianPackage: 'chromium' },
  { command: 'kubectl', debianPackage: 'kubernetes-client' },
  { command: 'curl', debianPackage: 'curl' },
  { command: 'jq', debianPackage: 'jq' },
  { command: 'openssl', debianPackage: 'openssl' },
  { command: 'nginx', debianPackage: 'nginx' },
  { command: 'caddy', debianPackage: 'caddy' },
  { command: 'bwrap', debianPackage: 'bubblewrap' },
  { command: 'promtool', debianPackage: 'prometheus' },
]

const main = (): number => {
  const missing = programs.filter(isMissing)
  if (missing.length === 0) return 0
  const packages = missing.map(program => program.debianPackage)
  if (!mayInstall()) return complain(`the tests need ${packages.join(', ')} (Debian's names): install them first`)
  console.error(`installing ${packages.join(', ')} for the tests`)
  const failure = install(packages)
  if (failure !== undefined) return complain(`the tests need ${packages.join(', ')}, and ${failure}`)
  return 0
}

const isMissing = ({ command }: Program): boolean =>
  !(process.env.PATH ?? '').split(delimiter).some(dir => isExecutable(join(dir, command)))

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const mayInstall = (): boolean =>
  process.getuid?.() === 0 && existsSync('/etc/debian_version') && process.env.SIDEGATE_TEST_INSTALL !== 'no'

const complain = (sentence: string): number => {
  console.error(sentence)
  return 1
}

/** What went wrong, or undefined when everything is installed. */
const install = (packages: readonly string[]): string | undefined =>
  withoutServices(() => {
    if (!aptGet('update')) return 'apt-get update failed'
    if (!aptGet('install', '--yes', '--no-install-recommends', ...packages)) return 'apt-get install failed'
    return undefined
  })

/** Debian starts a service as soon as it is installed, unless this file exists and exits 101 (invoke-rc.d(8)). */
const policyFile = '/usr/sbin/policy-rc.d'

const withoutServices = <T>(work: () => T): T => {
  if (existsSync(policyFile)) return work()
  writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return work()
  } finally {
    rmSync(policyFile, { force: true })
  }
}

/** apt's own words go to stderr, so that stdout holds nothing but the tests. */
const aptGet = (...args: readonly string[]): boolean =>
  spawnSync('apt-get', ['--quiet=2', ...args], {
    stdio: ['ignore', process.stderr, process.stderr],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }).status === 0

process.exitCode = main()
