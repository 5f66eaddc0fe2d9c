import { type WarningRules, warnIf } from './warning.ts'

/** What the configuration meets where it runs. */
export const surroundingRules = {
  'drain-outlasts-grace': ({ draft: { head }, graceMs }) => {
    const { delay, timeout } = head.value.shutdown
    const message = `with its delay this takes ${(delay + timeout) / 1000} s, and the process is killed after ${graceMs / 1000} s; take less, or a longer grace period (--grace says how long it is)`
    return warnIf(delay + timeout >= graceMs, ['shutdown', 'timeout'], message)
  },
  'unverified-tls': ({ env }) =>
    warnIf(
      env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
      [],
      'NODE_TLS_REJECT_UNAUTHORIZED=0 lets anybody pass for Redis and for those who publish keys; remove it from the environment',
    ),
} as const satisfies WarningRules
