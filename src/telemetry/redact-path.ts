/**
 * A path as logs and traces show it: at most 1024 characters of it, and nothing behind an encoded `?` or `#`. Somebody has
 * encoded a whole URL there, and a query or a fragment may hold a secret.
 */
export const redactPath = (path: string): string => {
  const mark = path.includes('%') ? path.search(encodedMark) : -1
  const end = Math.min(mark < 0 ? path.length : mark, longestPath)
  return end === path.length ? path : `${path.slice(0, end)}…`
}

/** Encoded once, or the `%` of it again. */
const encodedMark = /%(?:25)*(?:3f|23)/i

/** A line has to fit into what a pipe takes in one piece. */
const longestPath = 1024
