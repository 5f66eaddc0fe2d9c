import { systemClock } from '../../clock.ts'
import type { SidegateConfig } from '../../config/load.ts'
import { isSigningAlg } from '../../oauth/jws-algorithms.ts'
import { type Rotation, rotateKeys } from '../../oauth/keys/rotate-keys.ts'
import { signingAlgsOf } from '../../oauth/keys/rotation-schedule.ts'
import { type SigningAlg, signingAlgs } from '../../oauth/protocol.ts'
import { type Command, parseOptions, UsageError } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { withKeyStore } from '../operator-store.ts'
import { printLine } from '../output.ts'

/** Creates new signing keys in the store of a configuration; a gateway that runs uses them without a restart. */
export const keysRotate: Command = {
  name: 'keys rotate',
  synopsis: '--config FILE [--alg ALG] [--now] [--json]',
  summary: 'creates new signing keys; they sign after five minutes, or with --now as soon as every process has them',
  run: async args => {
    const flags = { now: { type: 'boolean' }, json: { type: 'boolean' } } as const
    const options = parseOptions(args, { ...configOption, alg: { type: 'string' }, ...flags })
    const chosen = parseAlg(options.alg)
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const request = { algorithms: chooseAlgs(config, chosen), isUrgent: options.now ?? false }
    const rotations = await withKeyStore(config, keys => rotateKeys(keys, systemClock.nowMs(), request))
    for (const line of options.json ? [toJson(rotations)] : rotations.map(toSentence)) printLine(line)
    return 0
  },
}

const parseAlg = (alg: string | undefined): SigningAlg | undefined => {
  if (alg === undefined || isSigningAlg(alg)) return alg
  throw new UsageError(`--alg takes one of ${signingAlgs.join(', ')}`)
}

const chooseAlgs = ({ oauth }: SidegateConfig, chosen: SigningAlg | undefined): readonly SigningAlg[] => {
  if (oauth.keys.jwks)
    throw new Error('keys come from keys.jwks, so Sidegate cannot rotate them; add a new key to that file')
  const used = signingAlgsOf(oauth)
  if (chosen === undefined) return used
  if (!used.includes(chosen)) throw new Error(`this configuration does not use algorithm ${chosen}`)
  return [chosen]
}

/** One JSON object on standard output: `keys`, with times in ISO 8601. */
const toJson = (rotations: readonly Rotation[]): string =>
  JSON.stringify({
    keys: rotations.map(({ kid, alg, activeAtMs, isNew }) => ({
      kid,
      alg,
      activeFrom: new Date(activeAtMs).toISOString(),
      isNew,
    })),
  })

const toSentence = ({ alg, kid, activeAtMs, isNew }: Rotation): string =>
  `${alg}: ${kid} ${isNew ? 'is new' : 'was made before'} and signs from ${new Date(activeAtMs).toISOString()} on`
