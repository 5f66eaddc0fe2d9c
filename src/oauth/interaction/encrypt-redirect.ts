import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/**
 * The final redirect contains an authorization code, and codes are stored only as digests. So the store holds the
 * redirect encrypted (AES-256-GCM) under a secret that only the browser has: its cookie, of which the store has only
 * a digest, or the resume token, which is not in the store.
 */
export const encryptRedirect = (redirect: string, secret: string): string => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), nonce)
  const encrypted = Buffer.concat([cipher.update(redirect, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url')
}

/** Decrypts the redirect. Throws if it was encrypted for another browser. */
export const decryptRedirect = (encryptedRedirect: string, secret: string): string => {
  const bytes = Buffer.from(encryptedRedirect, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secret), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
}

const nonceBytes = 12
const tagBytes = 16

const keyOf = (secret: string): Buffer => createHmac('sha256', secret).update('redirect').digest()
