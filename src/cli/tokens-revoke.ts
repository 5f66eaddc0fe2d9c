import { systemClock } from '../clock.ts'
import type { SidegateConfig } from '../config/load.ts'
import { type CutoffTarget, cutOff } from '../oauth/tokens/cut-off.ts'
import type { Cutoff } from '../stores/ports/cutoffs.ts'
import type { Store } from '../stores/ports/store.ts'
import { type Command, parseOptions, printErrorLine, printLine, UsageError } from './command.ts'
import { configOption, loadOrReport, requireConfigFile } from './config-file.ts'
import { requireIdentifier } from './identifier.ts'
import { withOperatedStore } from './operated-store.ts'

/** Revokes what was issued to a client or for a person, whether the gateway runs or not; ends when what follows is good. */
export const tokensRevoke: Command = {
  name: 'tokens revoke',
  synopsis: '--config FILE [--client ID] [--subject SUB] [--json]',
  summary: 'revokes all that was issued until now to a client, for a subject, or for the subject at the client',
  run: async args => {
    const texts = { client: { type: 'string' }, subject: { type: 'string' } } as const
    const options = parseOptions(args, { ...configOption, ...texts, json: { type: 'boolean' } })
    const target = parseTarget(options.client, options.subject)
    const config = await loadOrReport(requireConfigFile(options.config))
    if (!config) return 1
    const cutoff = await withOperatedStore(config, 'the tokens', async store => {
      await reportStranger(config, store, target)
      return cutOff(store.cutoffs, systemClock, target, config.oauth)
    })
    printLine(options.json ? toJson(cutoff) : toSentence(cutoff))
    return 0
  },
}

const parseTarget = (client: string | undefined, subject: string | undefined): CutoffTarget => {
  if (client === undefined && subject === undefined) throw new UsageError('name a --client, a --subject, or both')
  return {
    ...(client !== undefined && { client_id: requireIdentifier('--client', client) }),
    ...(subject !== undefined && { sub: requireIdentifier('--subject', subject) }),
  }
}

/** A name that was misspelt revokes nothing; but a client may also have been taken out, and come back. */
const reportStranger = async (
  { oauth }: SidegateConfig,
  { clients }: Store,
  { client_id }: CutoffTarget,
): Promise<void> => {
  if (client_id === undefined || oauth.clients.find(client_id) || (await clients.find(client_id))) return
  printErrorLine(`sidegate: there is no client ${JSON.stringify(client_id)} now; it is revoked all the same`)
}

const toSentence = ({ client_id, sub, throughSec }: Cutoff): string => {
  const whom = [sub !== undefined && `for ${sub}`, client_id !== undefined && `to ${client_id}`].filter(Boolean)
  return `revoked: everything issued ${whom.join(' ')} until ${toInstant((throughSec + 1) * 1000)}; what is issued from now on is good`
}

/** One JSON object on standard output; the instants in ISO 8601. */
const toJson = ({ client_id, sub, throughSec, untilMs }: Cutoff): string =>
  JSON.stringify({
    client: client_id,
    subject: sub,
    issuedBefore: toInstant((throughSec + 1) * 1000),
    rememberedUntil: toInstant(untilMs),
  })

const toInstant = (atMs: number): string => new Date(atMs).toISOString()
