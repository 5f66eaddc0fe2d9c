/**
 * Each test file loads this before everything else (.taprc). tap would keep account of every module that a test file and
 * the programs it starts load, for coverage and mocks, which are not in use here: that takes a test file longer than most
 * tests do, and a gateway would be tested with hooks in it that no user has. So neither is loaded, and nothing is handed on.
 */
import { registerHooks } from 'node:module'
import './exact-match.ts'

delete process.env.NODE_OPTIONS

const bookkeeping = /\/@tapjs\/(mock|processinfo)\/.*\/import\.mjs$/

const hooks = registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!bookkeeping.test(specifier)) {
      hooks.deregister()
      return nextResolve(specifier, context)
    }
    return { url: 'data:text/javascript,', format: 'module', shortCircuit: true }
  },
})
