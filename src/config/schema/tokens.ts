import { z } from 'zod'
import { strongSigningAlgs } from '../../oauth/protocol.ts'
import { lifetimeSec, oneOf, text } from '../values/zod-scalars.ts'
import { signingJwks } from './jwks.ts'

/** Tokens: their formats and lifetimes, and the keys that sign them. */

const accessTokenAlg = () =>
  z.enum(strongSigningAlgs, {
    error: ({ input }) =>
      input === 'RS256'
        ? `must be ${listed}; RS256 is for single old clients without profile: fapi2: set access_token_signed_response_alg: RS256 at those clients`
        : `must be ${listed}`,
  })

const listed = 'ES256, PS256 or EdDSA'

export const tokensSchema = z
  .strictObject({
    accessToken: z
      .strictObject({
        format: oneOf(['jwt', 'opaque']).default('jwt').describe('jwt (RFC 9068) or opaque. Default jwt.'),
        lifetime: lifetimeSec(1).prefault('10m').describe('Default 10m.'),
        alg: accessTokenAlg().default('ES256').describe('Signature of JWTs: ES256, PS256 or EdDSA. Default ES256.'),
      })
      .prefault({}),
    refreshToken: z
      .strictObject({
        lifetime: lifetimeSec(1).prefault('30d').describe('Lifetime, renewed by every rotation. Default 30d.'),
        reuseWindow: lifetimeSec(0, 3600)
          .prefault('10s')
          .describe('How long after a rotation the previous token still yields the same successor. Default 10s.'),
      })
      .prefault({}),
    code: z
      .strictObject({
        // RFC 6749 section 4.1.2 recommends ten minutes at most.
        lifetime: lifetimeSec(1, 600).prefault('60s').describe('Lifetime of an authorization code. Default 60s.'),
      })
      .prefault({}),
    par: z
      .strictObject({
        // FAPI 2.0 Security Profile section 5.3.2.2: less than 600 seconds.
        lifetime: lifetimeSec(1, 599)
          .prefault('60s')
          .describe('Lifetime of a pushed authorization request. Default 60s.'),
      })
      .prefault({}),
    dpop: z
      .strictObject({
        nonce: oneOf(['required', 'optional'])
          .default('required')
          .describe('Whether DPoP proofs must contain a nonce from the server (RFC 9449 section 8). Default required.'),
      })
      .prefault({}),
  })
  .prefault({})
  .describe('Formats and lifetimes of tokens, codes and pushed requests.')

export const keysSchema = z
  .strictObject({
    // At least twice the five minutes for which clients cache the key set.
    rotateEvery: lifetimeSec(3600)
      .optional()
      .describe('How long a key signs before the next one replaces it. Default 30d.'),
    jwks: signingJwks()
      .optional()
      .describe(
        'A private JWK set to sign with in place of generated keys; these keys are not rotated. Better as a file.',
      ),
    jwks_file: text().min(1, { error: 'must name a file' }).optional().describe('A file that contains this JWK set.'),
  })
  .prefault({})
  .describe('The keys that sign tokens.')
