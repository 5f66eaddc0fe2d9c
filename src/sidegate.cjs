#!/usr/bin/env node
// The launcher. It is plain old JavaScript, so that a Node too old for the rest can still print the reason in one line.

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
  // In a checkout Node runs the TypeScript itself; a package and an image contain compiled code.
  import(existsSync(join(__dirname, 'main.ts')) ? './main.ts' : './main.js')
}

/**
 * The primary allocates much while it reads a configuration, and little from then on, but V8 would keep the spaces for
 * young objects as large as they had become. A worker has other needs (`cluster/supervisor/preload.ts`). Must run
 * before the compile cache is opened, because there is one cache for each set of flags.
 */
function keepYoungHeapSmall() {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Halves the time of the next start: the compiled code is kept beside the dependencies, if that folder is writable. The
 * cache is in a folder of our own, because code in a folder that other users can write to would be run. If
 * NODE_COMPILE_CACHE is set, it takes precedence.
 */
function keepCompiled(dependencies) {
  try {
    accessSync(dependencies, constants.W_OK)
  } catch {
    return
  }
  enableCompileCache(join(dependencies, '.cache/sidegate'))
}
