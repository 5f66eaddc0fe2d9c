#!/usr/bin/env node
// The launcher. It is plain old JavaScript, so that a Node too old for the rest can still say so in one line.

const { accessSync, constants, existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')
const { setFlagsFromString } = require('node:v8')

const oldestMajor = 24

if (Number(process.versions.node.split('.')[0]) < oldestMajor) {
  const isCheckout = existsSync(join(__dirname, 'main.ts'))
  const advice = isCheckout ? 'npm start and npm run sidegate bring their own' : 'install a newer Node'
  process.stderr.write(`sidegate: needs Node ${oldestMajor} or newer, this is ${process.version}; ${advice}\n`)
  process.exitCode = 1
} else {
  if (['serve', 'start'].includes(process.argv[2])) keepYoungHeapSmall()
  keepCompiled(join(__dirname, '../node_modules'))
  // In a checkout Node runs the TypeScript as it is; a package and an image hold it compiled.
  import(existsSync(join(__dirname, 'main.ts')) ? './main.ts' : './main.js')
}

/**
 * The primary allocates much while it reads a configuration, and next to nothing from then on: V8 would keep the larger spaces for
 * young objects that it had made for that. A worker has other needs (`cluster/supervisor/preload.ts`). Before the compile cache is opened, which
 * is another one for each set of flags.
 */
function keepYoungHeapSmall() {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Halves the next start: what Node compiles is kept beside the dependencies, where that can be written. In a folder of our
 * own, since what lies in one that others can write would be run. Where NODE_COMPILE_CACHE says another it is that one.
 */
function keepCompiled(dependencies) {
  try {
    accessSync(dependencies, constants.W_OK)
  } catch {
    return
  }
  enableCompileCache(join(dependencies, '.cache/sidegate'))
}
