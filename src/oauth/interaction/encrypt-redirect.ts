import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/**
 * Where a browser was sent at the end holds an authorization code, and codes are stored as digests only. So the store
 * keeps it sealed (AES-256-GCM) under what the browser alone holds: its cookie, of which the store again has only a digest,
 * or the resume token, of which it has nothing.
 */
export const encryptRedirect = (redirect: string, secret: string): string => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), nonce)
  const sealed = Buffer.concat([cipher.update(redirect, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** The redirect again. Throws where it was sealed for another browser. */
export const decryptRedirect = (sealedRedirect: string, secret: string): string => {
  const bytes = Buffer.from(sealedRedirect, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secret), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
}

const nonceBytes = 12
const tagBytes = 16

const keyOf = (secret: string): Buffer => createHmac('sha256', secret).update('redirect').digest()
