/**
 * Each test file loads this before everything else (.taprc). For coverage and mocks, which are not used here, tap
 * would record every module that a test file and the programs it starts load. That takes longer than most tests do,
 * and would test a gateway with hooks that no user has. So neither is loaded, and child processes do not load it
 * either.
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
