import { algFields } from '../schema/clients.ts'
import { type WarningRules, warnIf } from './warning.ts'

/** Clients and their tokens: permissions and lifetimes. */
export const tokenRules = {
  'long-access-token': ({ parsed: { topLevel } }) =>
    warnIf(
      topLevel.value.tokens.accessToken.lifetime > mostLifetimeSec,
      ['tokens', 'accessToken', 'lifetime'],
      'a stolen token can be used for so long; set an hour at most, and use refresh tokens for longer access',
    ),
  'optional-pkce': ({ parsed: { clients } }) =>
    clients.flatMap(({ path, value }) =>
      warnIf(
        value.pkce === 'optional' && value.grant_types.includes('authorization_code'),
        [...path, 'pkce'],
        'a code that was stolen in transit can be redeemed without PKCE; set required (RFC 9700 section 2.1.1)',
      ),
    ),
  'weak-signature': ({ parsed: { clients } }) =>
    clients.flatMap(({ path, value }) =>
      algFields.flatMap(field =>
        warnIf(
          value[field] === 'RS256',
          [...path, field],
          'RS256 is for clients that support no better algorithm; set ES256, PS256 or EdDSA',
        ),
      ),
    ),
} as const satisfies WarningRules

const mostLifetimeSec = 3600
