import type { ClientRegistration } from '../../oauth/clients/metadata.ts'
import { hashSecret } from '../../oauth/secrets/secret-hash.ts'

/** Members of a client that say its secrets, as digests. */
export interface SecretMembers {
  readonly client_secret_hash: string
  /** Those that are good for a while yet, as `clients[].client_secrets` has them. */
  readonly client_secrets?: readonly { readonly client_secret_hash: string; readonly until: string }[]
}

/** A digest of a secret that is good now. */
export interface HeldSecret {
  readonly hash: string
  /** When it ends anyway. Left out: it has no end. */
  readonly untilMs?: number | undefined
}

/**
 * The members of a client whose secret has been replaced: those that were good end at `keptUntilMs` at the latest, and
 * those that have ended are gone.
 */
export const rotateSecret = (
  newHash: string,
  held: readonly HeldSecret[],
  nowMs: number,
  keptUntilMs: number,
): SecretMembers => {
  const kept = held
    .map(({ hash, untilMs = Number.POSITIVE_INFINITY }) => ({ hash, untilMs: Math.min(untilMs, keptUntilMs) }))
    .filter(({ untilMs }) => untilMs > nowMs)
    .map(({ hash, untilMs }) => ({ client_secret_hash: hash, until: new Date(untilMs).toISOString() }))
  return { client_secret_hash: newHash, ...(kept.length > 0 && { client_secrets: kept }) }
}

/** What a client holds now. What stands in the clear is digested as what a person chose. */
export const heldSecrets = ({ secrets }: Pick<ClientRegistration, 'secrets'>): Promise<readonly HeldSecret[]> =>
  Promise.all(
    secrets.map(async ({ kind, value, untilMs }) => ({
      hash: kind === 'hash' ? value.reveal() : await hashSecret(value),
      untilMs,
    })),
  )
