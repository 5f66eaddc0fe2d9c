import { valueAt, type WarningRules, warnIf } from './warning.ts'

/** The configuration compared with the environment that it runs in. */
export const surroundingRules = {
  'drain-outlasts-grace': ({ parsed: { topLevel }, written, graceMs }) => {
    const { delay, timeout } = topLevel.value.shutdown
    const path = placesOfDrain.find(place => valueAt(written, place) !== undefined) ?? []
    const whose = path.length > 0 ? '' : 'shutdown is not set, and by default '
    const message = `${whose}a delay of ${delay / 1000} s and a timeout of ${timeout / 1000} s together are not shorter than the ${graceMs / 1000} s after which the process is killed; ${adviseDrain(delay, graceMs)}, or extend that time, and pass it as --grace`
    return warnIf(delay + timeout >= graceMs, path, message)
  },
  'unverified-tls': ({ env }) =>
    warnIf(
      env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
      [],
      'NODE_TLS_REJECT_UNAUTHORIZED=0 lets an attacker impersonate Redis and the servers of key sets; remove it from the environment',
    ),
} as const satisfies WarningRules

/** The settings that determine it; the one that an operator would change comes first. */
const placesOfDrain = [
  ['shutdown', 'timeout'],
  ['shutdown', 'delay'],
]

const adviseDrain = (delayMs: number, graceMs: number): string => {
  const roomSec = Math.ceil((graceMs - delayMs) / 1000) - 1
  return roomSec > 0 ? `write timeout: ${roomSec}s under shutdown` : 'make both shorter'
}
