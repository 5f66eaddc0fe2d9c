import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Stage, toExecForm } from './dockerfile.ts'

const root = join(import.meta.dirname, '../..')

const lock = z
  .object({ packages: z.record(z.string(), z.object({ version: z.string().optional(), dev: z.boolean().optional() })) })
  .parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))

/** The version of a package that the lock file installs. */
export const lockedVersion = (name: string): string | undefined => lock.packages[`node_modules/${name}`]?.version

/** What the builder is sent: .dockerignore leaves out everything but the paths after a `!`. */
const sentPaths = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .flatMap(line => (line.startsWith('!') ? line.slice(1) : []))

/**
 * Does in a folder what the build stage does in its image: its COPY and RUN instructions one after another. Of `npm ci`
 * the result is borrowed from this checkout, which was installed from the same lock file. Returns the folder of /app.
 */
export const runBuildStage = (stage: Stage, dir: string): string => {
  const app = join(dir, 'build')
  mkdirSync(app)
  for (const { name, text } of stage.instructions) {
    if (name === 'COPY') copyInto(app, text.split(/\s+/))
    if (name === 'RUN') runIn(app, toExecForm(text))
  }
  return app
}

const copyInto = (app: string, words: readonly string[]): void => {
  const target = words.at(-1) ?? '.'
  for (const source of words.slice(0, -1)) {
    if (!sentPaths.includes(source)) throw new Error(`.dockerignore keeps ${source} from the builder`)
    // COPY puts a file into a folder, and a folder's content into a folder.
    const destination = target.endsWith('/') ? join(app, target, source) : join(app, target)
    cpSync(join(root, source), destination, { recursive: true })
  }
}

const runIn = (app: string, command: readonly string[]): void => {
  if (command.join(' ').startsWith('npm ci')) {
    symlinkSync(join(root, 'node_modules'), join(app, 'node_modules'))
    return
  }
  // Without the hooks that tap hands to every Node process below it: the builder has none.
  const { status, stdout, stderr } = spawnSync('env', ['-u', 'NODE_OPTIONS', ...command], {
    cwd: app,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${command.join(' ')} failed:\n${stdout}${stderr}`)
}

/** Lays out /app of the final image: compiled code, and of the packages those that `npm ci --omit=dev` would install. */
export const layOutApp = (buildDir: string, dir: string): string => {
  const app = join(dir, 'app')
  mkdirSync(app)
  cpSync(join(root, 'package.json'), join(app, 'package.json'))
  cpSync(join(buildDir, 'dist'), join(app, 'dist'), { recursive: true })
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const isInstalled = path !== '' && !dev && existsSync(join(root, path))
    if (isInstalled)
      cpSync(join(root, path), join(app, path), { recursive: true, filter: isOutsideNestedPackages(path) })
  }
  return app
}

/** Packages inside a package have entries of their own in the lock file. */
const isOutsideNestedPackages =
  (path: string) =>
  (file: string): boolean =>
    !file.startsWith(join(root, path, 'node_modules'))
