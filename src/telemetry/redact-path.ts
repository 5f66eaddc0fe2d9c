/**
 * A path for logs and traces: at most 1024 characters, and nothing after an encoded `?` or `#`. Such a path contains a
 * whole encoded URL, whose query or fragment may hold a secret.
 */
export const redactPath = (path: string): string => {
  const mark = path.includes('%') ? path.search(encodedMark) : -1
  const end = Math.min(mark < 0 ? path.length : mark, longestPath)
  return end === path.length ? path : `${path.slice(0, end)}…`
}

/** Encoded once or several times, in which case its `%` is encoded too. */
const encodedMark = /%(?:25)*(?:3f|23)/i

/** A line must fit into one atomic write to a pipe. */
const longestPath = 1024
