import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export const issuerName = 'http://127.0.0.1/issuer'

/** The issuer of the tokens that nginx accepts: JWTs with the claims and the length of Sidegate's own. */
export interface Issuer {
  /** In PEM. */
  readonly publicKey: string
  /** A token for an hour, but for what `claims` say. */
  issue(claims: Readonly<Record<string, unknown>>): string
}

export const createIssuer = (): Issuer => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const header = toPart({ alg: 'ES256', typ: 'at+jwt', kid: randomBytes(32).toString('base64url') })
  return {
    publicKey: publicKey.export({ format: 'pem', type: 'spki' }),
    issue: claims => {
      const text = `${header}.${toPart({ ...usualClaims(), ...claims })}`
      const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${text}.${signature.toString('base64url')}`
    },
  }
}

const usualClaims = () => {
  const iat = Math.floor(Date.now() / 1000)
  const jti = randomBytes(16).toString('base64url')
  return { iss: issuerName, aud: issuerName, iat, nbf: iat, exp: iat + 3600, jti }
}

const toPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
