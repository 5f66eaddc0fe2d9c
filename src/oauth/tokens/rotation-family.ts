import type { KeyRing } from '../keys/key-ring.ts'

/**
 * The refresh tokens of one grant that rotates. Each successor follows from its predecessor under the store's key, so
 * parallel uses of one token arrive at the same successor, and a stolen ancestor can be told from a guess though the
 * store remembers the current token alone.
 */
export interface RotationFamily {
  successorOf(refreshToken: string): string
  /** Whether the token with this digest follows from `refreshToken` within so many rotations. */
  isAncestor(refreshToken: string, currentDigest: string, generation: number): boolean
}

/**
 * Bounds the walk to about 5 ms, since whoever holds a grant that has rotated often can send garbage as its tokens. An
 * ancestor from further back, a week of refreshes every ten minutes, is refused like any other wrong token.
 */
const maxSteps = 1000

export const createRotationFamily = (keys: Pick<KeyRing, 'digest'>): RotationFamily => {
  const successorOf = (refreshToken: string): string => {
    const grantId = refreshToken.slice(0, refreshToken.indexOf('.'))
    // The prefix keeps it apart from the digest that the store holds of the same token.
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
