import type { RequestContext } from '../../http/context.ts'
import { plainAddress } from '../../http/peer/client-ip.ts'
import type { ForwardedForm } from '../options.ts'

/** The parts of a request that tell how it reached the gateway. */
type Way = Pick<RequestContext, 'fields' | 'peer' | 'trustedPeer' | 'isSecure'>

/**
 * The field lines that go upstream, each with its CRLF. Values of earlier hops are kept only if the peer is trusted.
 */
export const forwardedLines = (context: Way, form: ForwardedForm): string => {
  const older = form === 'forwarded' ? '' : xForwardedLines(context)
  return form === 'x-forwarded' ? older : `${older}Forwarded: ${toForwarded(context)}\r\n`
}

const xForwardedLines = ({ fields, trustedPeer, peer, isSecure }: Way): string => {
  const before = trustedPeer ? fields.forwardedFor : undefined
  const client = before === undefined ? peer : `${before}, ${peer}`
  const scheme = (trustedPeer ? fields.forwardedProto : undefined) ?? schemeOf(isSecure)
  const host = (trustedPeer ? fields.forwardedHost : undefined) ?? fields.host
  const hostLine = host === undefined ? '' : `X-Forwarded-Host: ${host}\r\n`
  return `X-Forwarded-For: ${client}\r\nX-Forwarded-Proto: ${scheme}\r\n${hostLine}`
}

/** RFC 7239 section 4: an element for each hop, ours last. */
const toForwarded = ({ fields, trustedPeer, peer, isSecure }: Way): string => {
  const own = toElement({ for: nodeOf(peer), proto: schemeOf(isSecure), host: fields.host })
  const before = trustedPeer ? (wellFormed(fields.forwarded) ?? translated(fields)) : undefined
  return before === undefined ? own : `${before}, ${own}`
}

const schemeOf = (isSecure: boolean): string => (isSecure ? 'https' : 'http')

/** Undefined if the field is ambiguous: an open quote before our element would include the element in it. */
const wellFormed = (received: string | undefined): string | undefined =>
  received !== undefined && elementsForm.test(received) ? received : undefined

/** The values of `X-Forwarded-*` of the peer as elements of `Forwarded` (RFC 7239 section 7.4). */
const translated = ({ forwardedFor, forwardedProto, forwardedHost }: Way['fields']): string | undefined => {
  if (forwardedFor === undefined) return undefined
  const [client = '', ...proxies] = forwardedFor.split(',').map(hop => nodeOf(hop.trim()))
  const first = toElement({ for: client, proto: forwardedProto, host: forwardedHost })
  return [first, ...proxies.map(node => toElement({ for: node }))].join(', ')
}

/** RFC 7239 section 6: an IPv6 address has brackets. `unknown` if the text is not an address. */
const nodeOf = (received: string): string => {
  const address = plainAddress(received)
  if (address === undefined) return 'unknown'
  return address.includes(':') ? `[${address}]` : address
}

const toElement = (parts: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(parts)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${toValue(value)}`]))
    .join(';')

/** RFC 7239 section 4: a value that is not a token is quoted, such as an IPv6 address or a host with a port. */
const toValue = (text: string): string => (tokenForm.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`)

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const tokenForm = new RegExp(`^${token}$`)
const pair = `${token}=(?:${token}|"(?:[^"\\\\]|\\\\.)*")`
/**
 * Elements and their pairs, each of which may be empty (RFC 7239 section 4). Each blank matches in one way only, so
 * that the expression runs in linear time.
 */
const elementsForm = new RegExp(`^[ \\t]*(?:${pair}[ \\t]*)?(?:[;,][ \\t]*(?:${pair}[ \\t]*)?)*$`)
