import { detachedCopy, isToken } from '../message/grammar.ts'

/**
 * Header fields of a request, by how the gateway treats them. One table serves the request parser and the gateway,
 * which builds the head for the upstream.
 */
export const fieldKinds = {
  /** Forwarded unchanged. */
  plain: 0,
  /** Not forwarded: hop-by-hop (RFC 9110 section 7.6.1). */
  hop: 1,
  connection: 2,
  host: 3,
  contentLength: 4,
  transferEncoding: 5,
  authorization: 6,
  /** Fields that only the gateway may set, in any spelling. They are removed if a client sends them. */
  identity: 7,
  requestId: 8,
  traceparent: 9,
  contentType: 10,
  cookie: 11,
  accept: 12,
  origin: 13,
  expect: 14,
  forwardedFor: 15,
  forwardedProto: 16,
  forwardedHost: 17,
  upgrade: 18,
  /** The URL of a page, including its query. */
  referer: 19,
  /**
   * Proof of possession of the key that a token is bound to (RFC 9449). It is meant for the gateway and of no use to an
   * upstream.
   */
  dpop: 20,
  /** The client's certificate, forwarded by a proxy that terminates TLS: RFC 9440, and Envoy's format. */
  clientCert: 21,
  forwardedClientCert: 22,
  tracestate: 23,
  /** RFC 7239. */
  forwarded: 24,
  /** Not a field name (RFC 9110 section 5.1). */
  invalid: 25,
} as const

export type FieldKind = (typeof fieldKinds)[keyof typeof fieldKinds]

const namedFields: Readonly<Record<string, FieldKind>> = {
  connection: fieldKinds.connection,
  'keep-alive': fieldKinds.hop,
  'proxy-connection': fieldKinds.hop,
  'proxy-authenticate': fieldKinds.hop,
  'proxy-authorization': fieldKinds.hop,
  'http2-settings': fieldKinds.hop,
  te: fieldKinds.hop,
  trailer: fieldKinds.hop,
  upgrade: fieldKinds.upgrade,
  'transfer-encoding': fieldKinds.transferEncoding,
  host: fieldKinds.host,
  'content-length': fieldKinds.contentLength,
  authorization: fieldKinds.authorization,
  'x-real-ip': fieldKinds.identity,
  'x-client-ip': fieldKinds.identity,
  'true-client-ip': fieldKinds.identity,
  'cf-connecting-ip': fieldKinds.identity,
  'x-cluster-client-ip': fieldKinds.identity,
  'fastly-client-ip': fieldKinds.identity,
  'remote-user': fieldKinds.identity,
  'x-remote-user': fieldKinds.identity,
  'x-user': fieldKinds.identity,
  'x-azure-clientip': fieldKinds.identity,
  'x-azure-socketip': fieldKinds.identity,
  'x-envoy-external-address': fieldKinds.identity,
  'x-proxyuser-ip': fieldKinds.identity,
  'x-original-forwarded-for': fieldKinds.identity,
  // CGI programs see it as HTTP_PROXY, and many HTTP clients read their proxy from that variable (CVE-2016-5385).
  proxy: fieldKinds.identity,
  // Servers that use these fields serve another path or method than the one that was checked.
  'x-original-url': fieldKinds.identity,
  'x-original-uri': fieldKinds.identity,
  'x-original-path': fieldKinds.identity,
  'x-original-method': fieldKinds.identity,
  'x-original-host': fieldKinds.identity,
  'x-rewrite-url': fieldKinds.identity,
  'x-override-url': fieldKinds.identity,
  'x-envoy-original-path': fieldKinds.identity,
  'x-host': fieldKinds.identity,
  'x-http-method': fieldKinds.identity,
  'x-http-method-override': fieldKinds.identity,
  'x-method-override': fieldKinds.identity,
  'x-request-id': fieldKinds.requestId,
  traceparent: fieldKinds.traceparent,
  tracestate: fieldKinds.tracestate,
  'content-type': fieldKinds.contentType,
  cookie: fieldKinds.cookie,
  accept: fieldKinds.accept,
  origin: fieldKinds.origin,
  expect: fieldKinds.expect,
  referer: fieldKinds.referer,
  forwarded: fieldKinds.forwarded,
  'x-forwarded-for': fieldKinds.forwardedFor,
  'x-forwarded-proto': fieldKinds.forwardedProto,
  'x-forwarded-host': fieldKinds.forwardedHost,
  dpop: fieldKinds.dpop,
  'client-cert': fieldKinds.clientCert,
  'x-forwarded-client-cert': fieldKinds.forwardedClientCert,
}

const named: ReadonlyMap<string, FieldKind> = new Map(Object.entries(namedFields))

/** Spellings seen so far. Their number is limited, because clients choose them. */
const seen = new Map<string, FieldKind>()
const maxSeen = 2000

export const fieldKindOf = (rawName: string): FieldKind => {
  const known = seen.get(rawName)
  if (known !== undefined) return known
  const kind = isToken(rawName) ? classify(rawName.toLowerCase()) : fieldKinds.invalid
  if (seen.size < maxSeen && rawName.length <= 64) seen.set(detachedCopy(rawName), kind)
  return kind
}

/** A name in lower case as it is seen by servers that replace every other character with `-`: X.Sidegate.Client.Id. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '-')

const classify = (name: string): FieldKind => {
  const known = named.get(name)
  if (known !== undefined) return known
  // CGI-like servers treat `_` as `-`: X_Sidegate_Client_Id and Content_Length would become the real fields.
  if (name.includes('_')) return fieldKinds.identity
  const plain = plainName(name)
  if (plain.startsWith('x-sidegate-') || plain.startsWith('x-forwarded-')) return fieldKinds.identity
  if (plain !== name && named.has(plain)) return fieldKinds.identity
  if (certificateName.test(plain) || principalName.test(plain)) return fieldKinds.identity
  return fieldKinds.plain
}

/**
 * Names of fields in which proxies forward a client's certificate: Client-Cert-Chain, X-SSL-Client-Cert,
 * SSL-Client-Verify …
 */
const certificateName =
  /^(?:(?:x-)?client-cert|(?:x-)?(?:ssl|tls|mtls)-(?:.*-)?(?:client|cert)|x-certificate|x-client-(?:verify|dn)|x-(?:amzn-mtls|apigee-m?tls)-|x-(?:arr|azure)-clientcert)/

/**
 * Names of fields in which proxies forward the client or user that they have authenticated. The second line is Kong's.
 */
const principalName = new RegExp(
  '^x-(?:client-auth-|ms-client-principal|auth-request-|goog-(?:authenticated-user-|iap-jwt-assertion$)|' +
    'consumer-(?:id|custom-id|username|groups)$|credential-(?:identifier|username)$|anonymous-consumer$|' +
    'authenticated-(?:user|userid|groups|scope)$)',
)
