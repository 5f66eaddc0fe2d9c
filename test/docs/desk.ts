import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { type Replacements, replaceAll, type Shell } from './console.ts'
import { root } from './markdown.ts'
import { killGroup } from './process-group.ts'

/** The place of a reader of the guides: a checkout, its terminals, and free ports. */
export interface Desk {
  readonly shell: Shell
  /** The page's ports, each by one that is free here. */
  readonly replacements: Replacements
  /** Pastes a script that ends. Its background processes run until the test ends. */
  run(script: string): Promise<void>
  /** Pastes a script that ends in a gateway, in place of the one before; resolves when it is ready. */
  serve(script: string): Promise<void>
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

const ports = ['8080', '9090', '9000', '9001', '3000', '8443', '9100', '9443']

/** A gateway starts in a second, but not where many tests run. */
const patienceMs = 60_000

/** @param prelude what is pasted into every terminal first */
export const openDesk = async (t: Teardown, prelude: string): Promise<Desk> => {
  const cwd = mkdtempSync(join(tmpdir(), 'sidegate-guide-'))
  for (const name of ['src', 'config', 'node_modules']) symlinkSync(join(root, name), join(cwd, name))
  const entries = ports.map(async port => [port, String(await findFreePort())])
  const replacements: Replacements = Object.fromEntries(await Promise.all(entries))
  const shell = { cwd, env: environmentHere(replacements, cwd), prelude }
  const scripts: Script[] = []
  let gateway: Script | undefined
  t.teardown(async () => {
    await Promise.all(scripts.map(script => script.end()))
    rmSync(cwd, { recursive: true, force: true })
  })

  const paste = (script: string): Script => {
    const pasted = startScript(`${prelude}\n${replaceAll(script, replacements)}`, shell)
    scripts.push(pasted)
    return pasted
  }
  return {
    shell,
    replacements,
    run: script => paste(script).exited,
    serve: async script => {
      await gateway?.end()
      gateway = paste(script)
      const readyUrl = replaceAll('http://127.0.0.1:9090/readyz', replacements)
      const ready = eventually(async () => (await fetch(readyUrl)).ok, patienceMs)
      await Promise.race([ready, gateway.exited.then(() => ready)])
    },
  }
}

/** This test's own Node, and for the demo configuration the ports that the page's are replaced by. */
const environmentHere = (replacements: Replacements, cwd: string): NodeJS.ProcessEnv => {
  const { SIDEGATE_CONFIG: _, PATH = '', ...env } = process.env
  const here = (text: string): string => replaceAll(text, replacements)
  return {
    ...env,
    PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
    // Some twenty programs start one after another: they need not compile the same files each time.
    NODE_COMPILE_CACHE: join(cwd, 'compiled'),
    SIDEGATE_LISTEN: here('127.0.0.1:8080'),
    SIDEGATE_ISSUER: here('http://localhost:8080'),
    SIDEGATE_ADMIN: here('127.0.0.1:9090'),
    SIDEGATE_UPSTREAM: here('http://127.0.0.1:9000'),
  }
}

interface Script {
  /** Rejects where a command of it failed, with what it printed. */
  readonly exited: Promise<void>
  /** Ends it with all that it left in the background. */
  end(): Promise<void>
}

const startScript = (script: string, { cwd, env }: Pick<Shell, 'cwd' | 'env'>): Script => {
  // A process group of its own: what runs in the background ends with it.
  const bash = spawn('bash', ['-e', '-c', script], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = Promise.all([text(bash.stdout), text(bash.stderr)])
  let isEnding = false
  const exited = once(bash, 'exit').then(async ([code]) => {
    if (code === 0 || isEnding) return
    killGroup(bash)
    throw new Error(`a script of the guide failed:\n${script}\n${(await closed).join('\n')}`)
  })
  return {
    exited,
    end: async () => {
      isEnding = true
      killGroup(bash)
      await closed
    },
  }
}
