import type { KeyRing } from '../tokens/keys.ts'

/**
 * The refresh tokens of one grant that rotates. Each successor follows from its predecessor under the store's key, so
 * parallel uses of one token arrive at the same successor, and a stolen ancestor can be told from a guess though the
 * store remembers the current token alone.
 */
export interface RefreshLineage {
  successorOf(refreshToken: string): string
  /** Whether the token with this digest follows from `refreshToken` within so many rotations. */
  isAncestor(refreshToken: string, currentDigest: string, generation: number): boolean
}

/** Bounds the walk to about 50 ms. An ancestor from further back is refused like any other wrong token. */
const longestWalk = 10_000

export const createRefreshLineage = (keys: KeyRing): RefreshLineage => {
  const successorOf = (refreshToken: string): string => {
    const grantId = refreshToken.slice(0, refreshToken.indexOf('.'))
    // The prefix keeps it apart from the digest that the store holds of the same token.
    return `${grantId}.${keys.digest(`successor ${refreshToken}`)}`
  }
  return {
    successorOf,
    isAncestor: (refreshToken, currentDigest, generation) => {
      let descendant = refreshToken
      for (let step = 0; step < Math.min(generation, longestWalk); step++) {
        descendant = successorOf(descendant)
        if (keys.digest(descendant) === currentDigest) return true
      }
      return false
    },
  }
}
