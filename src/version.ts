import { readFileSync } from 'node:fs'

/** The version of the package, and the commit that it was built from, if the build sets it. */
export interface BuildInfo {
  readonly version: string
  readonly node_version: string
  /** `SIDEGATE_COMMIT` of the environment, set by the image; `unknown` in a checkout. */
  readonly commit: string
}

export const buildInfo = (): BuildInfo => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return { version, node_version: process.versions.node, commit: process.env.SIDEGATE_COMMIT ?? 'unknown' }
}
