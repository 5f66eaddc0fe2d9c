import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/**
 * Where a browser was sent at the end holds an authorization code, and codes are stored as digests only. So the store
 * keeps it sealed (AES-256-GCM) under the browser's own cookie, of which the store again has only a digest.
 */
export const sealRedirect = (redirect: string, browserSecret: string): string => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keyOf(browserSecret), nonce)
  const sealed = Buffer.concat([cipher.update(redirect, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** The redirect again. Throws where it was sealed for another browser. */
export const openRedirect = (sealedRedirect: string, browserSecret: string): string => {
  const bytes = Buffer.from(sealedRedirect, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', keyOf(browserSecret), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
}

const nonceBytes = 12
const tagBytes = 16

const keyOf = (browserSecret: string): Buffer => createHmac('sha256', browserSecret).update('redirect').digest()
