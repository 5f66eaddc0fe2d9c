import type { KeyObject } from 'node:crypto'

/** How a public key is out of bounds. */
export type KeyBoundsFault = 'too_short' | 'too_long' | 'exponent_too_long'

/** RFC 7518 sections 3.3 and 3.5. */
export const leastRsaBits = 2048
/** A signature costs more to verify the longer its key is, and others choose the keys that we verify with. */
export const mostRsaBits = 4096
export const mostExponentBits = 32

/** Only RSA keys come in lengths; undefined: within bounds. */
export const findKeyBoundsFault = ({
  asymmetricKeyType,
  asymmetricKeyDetails,
}: KeyObject): KeyBoundsFault | undefined => {
  if (asymmetricKeyType !== 'rsa') return undefined
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {}
  if (modulusLength < leastRsaBits) return 'too_short'
  if (modulusLength > mostRsaBits) return 'too_long'
  return publicExponent >> BigInt(mostExponentBits) > 0n ? 'exponent_too_long' : undefined
}
