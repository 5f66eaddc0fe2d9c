import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Whether this process may install packages of Debian. */
export const canInstallDebianPackages = (): boolean => process.getuid?.() === 0 && existsSync('/etc/debian_version')

/** Installs packages without starting the services in them. Returns why that failed, or undefined. */
export const installDebianPackages = (packages: readonly string[]): string | undefined =>
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

/** The messages of apt go to stderr, so that stdout holds nothing but the tests. */
const aptGet = (...args: readonly string[]): boolean =>
  spawnSync('apt-get', ['--quiet=2', ...args], {
    stdio: ['ignore', process.stderr, process.stderr],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }).status === 0
