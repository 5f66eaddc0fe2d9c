/** The grant id that a revocation names: the whole text, or what stands before the first dot of a `jti`. */
export const grantIdOf = (id: string): string => {
  const dot = id.indexOf('.')
  return dot < 0 ? id : id.slice(0, dot)
}
