/**
 * What is said where a key names a file that cannot be read. The name is left out: it may be the secret itself, written
 * there in place of a file; the place of the problem leads to it.
 */
export const unreadableFile = (error: NodeJS.ErrnoException): string =>
  `names no file that can be read from this configuration's folder (${error.code ?? error.name}); name one`
