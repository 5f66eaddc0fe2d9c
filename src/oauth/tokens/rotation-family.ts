import type { KeyRing } from '../keys/key-ring.ts'

/**
 * The refresh tokens of one grant that rotates. Each successor is derived from its predecessor with the store's key,
 * so parallel uses of one token yield the same successor, and a stolen ancestor can be told from a guess although the
 * store holds only the current token.
 */
export interface RotationFamily {
  successorOf(refreshToken: string): string
  /** Whether the token with this digest is a descendant of `refreshToken` within this many rotations. */
  isAncestor(refreshToken: string, currentDigest: string, generation: number): boolean
}

/**
 * Limits the walk to about 5 ms, because the holder of a grant that has rotated often can send garbage as its tokens.
 * An older ancestor, from before a week of refreshes every ten minutes, is refused like any wrong token.
 */
const maxSteps = 1000

export const createRotationFamily = (keys: Pick<KeyRing, 'digest'>): RotationFamily => {
  const successorOf = (refreshToken: string): string => {
    const grantId = refreshToken.slice(0, refreshToken.indexOf('.'))
    // The prefix makes it different from the digest of the same token that the store holds.
    return `${grantId}.${keys.digest(`successor ${refreshToken}`)}`
  }
  return {
    successorOf,
    isAncestor: (refreshToken, currentDigest, generation) => {
      let descendant = refreshToken
      for (let step = 0; step < Math.min(generation, maxSteps); step++) {
        descendant = successorOf(descendant)
        if (keys.digest(descendant) === currentDigest) return true
      }
      return false
    },
  }
}
