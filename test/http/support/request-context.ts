import { Socket } from 'node:net'
import { createContext, type RequestContext } from '../../../src/http/context.ts'
import { createAddressReader } from '../../../src/http/peer/client-ip.ts'
import { fieldLines } from '../../../src/http/reply.ts'
import { fieldKindOf } from '../../../src/http/server/field-kinds.ts'
import { addField, createRequestFields, type RequestFields } from '../../../src/http/server/request-fields.ts'
import { parseRequestHead } from '../../../src/http/server/request-parser.ts'
import { Response } from '../../../src/http/server/response.ts'
import { createCertificateReader } from '../../../src/http/tls/client-certificate.ts'

/** The fields that the server reads from these field lines, valid or not. @param lines names and values in turn */
export const readFields = (lines: readonly string[]): RequestFields => {
  const fields = createRequestFields()
  for (let i = 0; i + 1 < lines.length; i += 2) addField(fields, fieldKindOf(lines[i] ?? ''), lines[i + 1] ?? '')
  return fields
}

const certificates = createCertificateReader({ clientAuth: 'off', hasClientCa: false, header: 'none' })

/** The other end of the connection. */
interface Sender {
  readonly peer?: string
  readonly trustedProxies?: readonly string[]
}

/** The context of a GET without a body, on a socket without a peer. @param fields names and values in turn */
export const createRequestContext = (
  fields: readonly string[] = [],
  { peer = '', trustedProxies = [] }: Sender = {},
): RequestContext => {
  const socket = new Socket()
  const owner = { socket, keepAliveSec: 75, onResponseEnd: () => undefined }
  const response = new Response(owner, { method: 'GET', versionMinor: 1, isPersistent: true, expectsContinue: false })
  // HTTP/1.0 needs no Host.
  const head = parseRequestHead(`GET / HTTP/1.0\r\n${fieldLines(fields)}`.slice(0, -2), 100)
  const request = { head, body: undefined, socket, peer, startedAtMs: performance.now(), upgrade: () => socket }
  return createContext(request, response, { addresses: createAddressReader(trustedProxies), certificates })
}
