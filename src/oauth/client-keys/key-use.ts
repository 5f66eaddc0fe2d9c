/**
 * Whether a JWK may verify signatures by its `use` and `key_ops` (RFC 7517 sections 4.2 and 4.3). A key without them may. A
 * `key_ops` that is not a list of texts is malformed, so that such a key may verify nothing.
 */
export const isForVerification = ({ use, key_ops }: Readonly<Record<string, unknown>>): boolean =>
  (use === undefined || use === 'sig') &&
  (key_ops === undefined || (isKeyOperations(key_ops) && key_ops.includes('verify')))

/** Whether a `key_ops` is well-formed. */
export const isKeyOperations = (key_ops: unknown): key_ops is readonly string[] =>
  Array.isArray(key_ops) && key_ops.every(operation => typeof operation === 'string')
