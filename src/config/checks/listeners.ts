import { strongSigningAlgs } from '../../oauth/protocol.ts'
import { isInvalid } from '../parse/config-section.ts'
import type { ParsedConfig, ParsedLogin, ParsedTopLevel } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { collides, isLoopback } from '../values/address.ts'
import { haveKeyFor } from '../values/jwk.ts'
import { applyRules, keyAt, type Rule, valueAt } from './rule.ts'

/** Checks the listeners against each other, and the private one against the login that calls it. */
export const checkListeners = ({ topLevel, login, users }: ParsedConfig): readonly Fault[] => [
  ...applyRules(topLevelRules, topLevel, topLevel.value),
  ...applyRules(loginRules, login, {
    login: login.value,
    hasInternal: hasInternal(topLevel),
    hasUsers: users.length > 0,
  }),
  ...(isInvalid(login.invalidPaths, 'mode')
    ? []
    : applyRules(internalRules, topLevel, { topLevel: topLevel.value, login: login.value })),
]

const topLevelRules: readonly Rule<ParsedTopLevel>[] = [
  {
    reads: ['listen', 'admin'],
    check: ({ listen, admin }) =>
      collides(listen, admin)
        ? valueAt('admin', 'the traffic listener has this port; choose another port for admin')
        : undefined,
  },
  {
    reads: ['listen', 'admin', 'internal'],
    check: ({ listen, admin, internal }) =>
      internal && (collides(listen, internal.listen) || collides(admin, internal.listen))
        ? valueAt(['internal', 'listen'], 'listen or admin has this port; the private listener needs one of its own')
        : undefined,
  },
  {
    reads: ['issuer', 'tls'],
    check: ({ issuer, tls }) =>
      tls && issuer?.startsWith('http:')
        ? valueAt('issuer', 'must be https because Sidegate serves TLS (tls); clients that use http get no response')
        : undefined,
  },
  {
    reads: ['tls.clientAuth', 'tls.clientCa_file'],
    check: ({ tls }) =>
      tls?.clientAuth === 'off' && tls.clientCa_file !== undefined
        ? keyAt(
            ['tls', 'clientCa_file'],
            'has no effect while clients are not asked for a certificate; set clientAuth: optional or required, or remove it',
          )
        : undefined,
  },
  {
    reads: ['tls.clientAuth', 'tls.clientCa_file'],
    check: ({ tls }) =>
      tls?.clientAuth === 'required' && tls.clientCa_file === undefined
        ? valueAt(
            ['tls', 'clientCa_file'],
            'missing; clientAuth: required accepts only certificates of these CAs. For self-signed certificates set clientAuth: optional',
          )
        : undefined,
  },
  {
    reads: ['clientCertificateHeader', 'trustedProxies'],
    check: ({ clientCertificateHeader, trustedProxies }) =>
      clientCertificateHeader.endsWith('client-cert') && trustedProxies.length === 0
        ? valueAt('clientCertificateHeader', 'no proxy is trusted to send it; name the proxy under trustedProxies')
        : undefined,
  },
  {
    reads: ['internal'],
    check: ({ internal }) =>
      internal && !internal.tls && !isLoopback(internal.listen.host)
        ? valueAt(['internal', 'listen'], 'plain HTTP is only for loopback addresses; listen on 127.0.0.1, or set tls')
        : undefined,
  },
  {
    reads: ['internal'],
    check: ({ internal }) =>
      internal && !internal.jwks && internal.tls?.clientCa_file === undefined
        ? keyAt('internal', 'the login could not authenticate; set tls with clientCa_file, or jwks')
        : undefined,
  },
  {
    reads: ['internal.jwks'],
    check: ({ internal }) =>
      internal?.jwks && !haveKeyFor(internal.jwks.keys, strongSigningAlgs)
        ? valueAt(
            ['internal', 'jwks'],
            `has no key for ${strongSigningAlgs.join(', ')}, one of which the login must sign with; add one, without use: enc`,
          )
        : undefined,
  },
]

interface Facts {
  readonly login: ParsedLogin
  readonly hasInternal: boolean
  readonly hasUsers: boolean
}

/** An invalid one exists all the same. */
const hasInternal = ({ value, invalidPaths }: ParsedConfig['topLevel']): boolean =>
  value.internal !== undefined || isInvalid(invalidPaths, 'internal')

const internalRules: readonly Rule<{ readonly topLevel: ParsedTopLevel; readonly login: ParsedLogin }>[] = [
  {
    reads: ['internal'],
    check: ({ topLevel, login }) =>
      topLevel.internal && login.mode === 'embedded'
        ? keyAt('internal', 'has an effect only with login.mode: handoff; set that, or remove it')
        : undefined,
  },
]

const loginRules: readonly Rule<Facts>[] = [
  {
    reads: ['mode', 'url'],
    check: ({ login }) =>
      login.mode === 'handoff' && login.url === undefined
        ? valueAt('url', 'missing; mode: handoff redirects the browser to it')
        : undefined,
  },
  {
    reads: ['mode', 'url'],
    check: ({ login }) =>
      login.mode === 'embedded' && login.url !== undefined
        ? keyAt('url', 'is only for mode: handoff; set that, or remove it')
        : undefined,
  },
  {
    reads: ['url'],
    check: ({ login: { url } }) =>
      url !== undefined && new URL(url).searchParams.has('interaction')
        ? valueAt('url', 'has a parameter interaction already; remove it, because Sidegate adds it')
        : undefined,
  },
  {
    reads: ['mode'],
    check: ({ login, hasInternal }) =>
      login.mode === 'handoff' && !hasInternal
        ? valueAt('mode', 'with handoff the login reports over the private listener; define it under internal')
        : undefined,
  },
  {
    reads: ['mode'],
    check: ({ login, hasUsers }) =>
      login.mode === 'handoff' && hasUsers
        ? keyAt('users', 'are only for mode: embedded, and no user signs in here with a login of your own; remove them')
        : undefined,
  },
]
