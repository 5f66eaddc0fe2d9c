import type { ClientRegistration } from '../../oauth/clients/metadata.ts'
import { hashSecret } from '../../oauth/secrets/secret-hash.ts'

/** The members of a client that hold its secrets, as digests. */
export interface SecretMembers {
  readonly client_secret_hash: string
  /** Secrets with an end, as in `clients[].client_secrets`. */
  readonly client_secrets?: readonly { readonly client_secret_hash: string; readonly until: string }[]
}

/** The digest of a secret that is valid now. */
export interface HeldSecret {
  readonly hash: string
  /** The time at which it ends anyway. If left out, it has no end. */
  readonly untilMs?: number | undefined
}

/**
 * The members of a client after its secret was replaced. The valid secrets end at `keptUntilMs` at the latest; those
 * that have ended are removed.
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

/** The valid secrets of a client. A plain text secret is hashed like one that was chosen by a person. */
export const heldSecrets = ({ secrets }: Pick<ClientRegistration, 'secrets'>): Promise<readonly HeldSecret[]> =>
  Promise.all(
    secrets.map(async ({ kind, value, untilMs }) => ({
      hash: kind === 'hash' ? value.reveal() : await hashSecret(value),
      untilMs,
    })),
  )
