#!/usr/bin/env node
// The launcher. It is plain old JavaScript, so that a Node too old for the rest can still say so in one line.

const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')

const oldestMajor = 24

if (Number(process.versions.node.split('.')[0]) < oldestMajor) {
  const advice = 'npm start and npm run sidegate bring their own'
  process.stderr.write(`sidegate: needs Node ${oldestMajor} or newer, this is ${process.version}; ${advice}\n`)
  process.exitCode = 1
} else {
  // Halves the next start. In a folder of our own, since a shared one could hold what somebody else has compiled; where it
  // cannot be written, and where NODE_COMPILE_CACHE says another, Node does without.
  enableCompileCache(join(__dirname, '../node_modules/.cache/sidegate'))
  // In a checkout Node runs the TypeScript as it is; an image holds it compiled.
  import(existsSync(join(__dirname, 'main.ts')) ? './main.ts' : './main.js')
}
