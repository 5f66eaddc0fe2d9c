/**
 * Builds the image into a folder: each stage in a folder of its own, with the commands of the Dockerfile, and no
 * container engine.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { z } from 'zod'
import { type Instruction, type Stage, toExecForm } from './dockerfile.ts'

const checkout = join(import.meta.dirname, '../..')

const lock = z
  .object({ packages: z.record(z.string(), z.object({ version: z.string().optional(), dev: z.boolean().optional() })) })
  .parse(JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8')))

/** The version of a package that the lock file installs. */
export const lockedVersion = (name: string): string | undefined => lock.packages[`node_modules/${name}`]?.version

/** The paths of the build context: .dockerignore leaves out everything but the paths after a `!`. */
const sentPaths = readFileSync(join(checkout, '.dockerignore'), 'utf8')
  .split('\n')
  .flatMap(line => (line.startsWith('!') ? line.slice(1) : []))

/** A stage while it is built. */
interface Room {
  /** The folder that is its `/`. */
  readonly root: string
  readonly workdir: string
}

/**
 * Does in folders the work of an image builder. The packages of `npm ci` are borrowed from this checkout, which was
 * installed from the same lock file. Returns the folder that is `/` of the last stage.
 */
export const buildImage = (stages: readonly Stage[], dir: string): string => {
  const rootOf = (stage: string): string => join(dir, stage === '' ? 'final' : stage)
  for (const { name, instructions } of stages) {
    let room: Room = { root: rootOf(name), workdir: '/' }
    mkdirSync(room.root)
    for (const instruction of instructions) room = follow(instruction, room, rootOf)
  }
  return rootOf(stages.at(-1)?.name ?? '')
}

const follow = ({ name, text }: Instruction, room: Room, rootOf: (stage: string) => string): Room => {
  if (name === 'WORKDIR') return enter(text, room)
  if (name === 'COPY') copy(text.split(/\s+/), room, rootOf)
  if (name === 'RUN') run(toExecForm(text), room)
  return room
}

const enter = (workdir: string, { root }: Room): Room => {
  mkdirSync(join(root, workdir), { recursive: true })
  return { root, workdir }
}

const copy = (words: readonly string[], { root, workdir }: Room, rootOf: (stage: string) => string): void => {
  const from = words.find(word => word.startsWith('--from='))?.slice('--from='.length)
  const paths = words.filter(word => !word.startsWith('--'))
  const target = paths.at(-1) ?? '.'
  for (const source of paths.slice(0, -1)) {
    const path = from === undefined ? sentPath(source) : join(rootOf(from), source)
    const place = join(root, resolve(workdir, target))
    // COPY puts a file into a folder, and a folder's content into a folder.
    const destination = target.endsWith('/') && statSync(path).isFile() ? join(place, basename(source)) : place
    cpSync(path, destination, { recursive: true, verbatimSymlinks: true })
  }
}

const sentPath = (source: string): string => {
  if (!sentPaths.includes(source)) throw new Error(`.dockerignore keeps ${source} from the builder`)
  return join(checkout, source)
}

const run = (command: readonly string[], { root, workdir }: Room): void => {
  const cwd = join(root, workdir)
  if (command.join(' ').startsWith('npm ci')) {
    if (command.includes('--omit=dev')) layOutPackages(cwd)
    else symlinkSync(join(checkout, 'node_modules'), join(cwd, 'node_modules'))
    return
  }
  // Without the hooks that tap hands to every Node process below it: the builder has none.
  const words = command.map(word => (word.startsWith('/') ? join(root, word) : word))
  const { status, stdout, stderr } = spawnSync('env', ['-u', 'NODE_OPTIONS', ...words], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command.join(' ')} failed:\n${stdout}${stderr}`)
}

/** Creates the packages that `npm ci --omit=dev` would install. */
const layOutPackages = (app: string): void => {
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const isInstalled = path !== '' && !dev && existsSync(join(checkout, path))
    if (isInstalled)
      cpSync(join(checkout, path), join(app, path), { recursive: true, filter: isOutsideNestedPackages(path) })
  }
}

/** Packages inside a package have entries of their own in the lock file. */
const isOutsideNestedPackages =
  (path: string) =>
  (file: string): boolean =>
    !file.startsWith(join(checkout, path, 'node_modules'))

/** The bytes of all files below a folder: what a layer takes when it is unpacked. */
export const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
