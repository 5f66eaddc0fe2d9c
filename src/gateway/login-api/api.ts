import { randomUUID } from 'node:crypto'
import { type BodyLimits, readBody } from '../../http/body.ts'
import { problemReply } from '../../http/problem-details.ts'
import { type Reply, writeReply } from '../../http/reply.ts'
import type { HttpServerHandlers } from '../../http/server/handlers.ts'
import type { Request } from '../../http/server/request.ts'
import type { Response } from '../../http/server/response.ts'
import type { LoginApi, LoginApiAnswer } from '../../oauth/interaction/login-api.ts'
import { StoreUnavailableError } from '../../stores/ports/store-unavailable.ts'
import { type AccessLog, operationMembers } from '../../telemetry/access-log.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { clientGone } from '../exchange.ts'
import { type InternalCaller, type InternalCallerOptions, proveInternalCaller } from './authenticate.ts'

export interface InternalApiDeps {
  readonly loginApi: LoginApi
  readonly caller: InternalCallerOptions
  readonly log: Logger
  readonly accessLog: AccessLog
}

/** The API of the private listener: the operator's login application reads an interaction and decides it. */
export interface InternalApi {
  readonly handlers: HttpServerHandlers
  /** From now on every response closes its connection. */
  startDraining(): void
  /** Requests that are being answered now. */
  inFlight(): number
}

export const createInternalApi = (deps: InternalApiDeps): InternalApi => {
  const { log, accessLog } = deps
  let inFlight = 0
  let draining = false

  const answer = async (request: Request, response: Response): Promise<void> => {
    const startedAtMs = performance.now()
    const requestId = randomUUID()
    const call = parseCall(request.head.target)
    inFlight++
    try {
      const reply = await replyTo(request, response, call, requestId, deps).catch(error =>
        toFailure(error, requestId, log),
      )
      if (reply) writeReply(response, { ...reply, close: draining || reply.close === true }, requestId)
      accessLog.write({
        request_id: requestId,
        operation: call?.operation.members ?? unmatched,
        method: request.head.method,
        path: call?.path ?? '',
        status: reply?.status ?? response.refusal?.status ?? clientGone,
        client_id: undefined,
        address: request.peer,
        durationMs: performance.now() - startedAtMs,
        upstreamMs: 0,
      })
    } finally {
      inFlight--
    }
  }

  return {
    handlers: {
      request: (request, response) => void answer(request, response),
      refused: () => undefined,
      dropped: () => undefined,
    },
    startDraining() {
      draining = true
    },
    inFlight: () => inFlight,
  }
}

/** One operation under `/internal/interactions/<id>`. */
interface InternalOperation {
  readonly method: 'GET' | 'POST'
  readonly members: ReturnType<typeof operationMembers>
  readonly serve: (loginApi: LoginApi, id: string, body: unknown) => Promise<LoginApiAnswer>
}

const operation = (
  method: InternalOperation['method'],
  suffix: string,
  serve: InternalOperation['serve'],
): InternalOperation => ({
  method,
  members: operationMembers('internal', `${method} /internal/interactions/*${suffix}`),
  serve,
})

const operations: ReadonlyMap<string, InternalOperation> = new Map([
  ['', operation('GET', '', (loginApi, id) => loginApi.describe(id))],
  ['/accept', operation('POST', '/accept', (loginApi, id, body) => loginApi.accept(id, body))],
  ['/reject', operation('POST', '/reject', (loginApi, id, body) => loginApi.reject(id, body))],
])

const unmatched = operationMembers('internal', 'unmatched')

interface Call {
  readonly path: string
  readonly id: string
  readonly operation: InternalOperation
}

const parseCall = (path: string): Call | undefined => {
  const [, id, suffix = ''] = /^\/internal\/interactions\/([A-Za-z0-9_-]{22})(\/\w+)?$/.exec(path) ?? []
  const operation = operations.get(suffix)
  return id !== undefined && operation ? { path, id, operation } : undefined
}

const bodyLimits: BodyLimits = { maxBytes: 64 * 1024, timeoutMs: 30_000 }

/** @returns undefined if the client has left */
const replyTo = async (
  request: Request,
  response: Response,
  call: Call | undefined,
  requestId: string,
  { loginApi, caller }: InternalApiDeps,
): Promise<Reply | undefined> => {
  const { method: sentMethod, fields } = request.head
  if (!call) return problemReply('NOT_FOUND', requestId)
  const { method, serve } = call.operation
  if (sentMethod !== method) return problemReply('METHOD_NOT_ALLOWED', requestId, { headers: ['allow', method] })
  const proof = await proveInternalCaller(request, caller)
  if (proof.kind !== 'proven') return refuseCaller(proof, requestId)
  if (method === 'GET') return toReply(await serve(loginApi, call.id, undefined), requestId)
  if (!isJson(fields.contentType)) return problemReply('MEDIA_TYPE_UNSUPPORTED', requestId, acceptsJson)
  if (fields.expect !== undefined) response.writeContinue()
  const body = await readBody(request, response, bodyLimits)
  switch (body.kind) {
    case 'body':
      return toReply(await serve(loginApi, call.id, parseJson(body.text)), requestId)
    case 'too_large':
      return problemReply('BODY_TOO_LARGE', requestId)
    case 'too_slow':
      return problemReply('REQUEST_TIMEOUT', requestId)
    case 'aborted':
      return undefined
  }
}

/** RFC 6750 section 3. */
const refuseCaller = (caller: InternalCaller, requestId: string): Reply => {
  const challenge = 'Bearer realm="internal"'
  if (caller.kind !== 'invalid') {
    return problemReply('CREDENTIAL_MISSING', requestId, { headers: ['www-authenticate', challenge] })
  }
  const { reason } = caller
  const headers = ['www-authenticate', `${challenge}, error="invalid_token", error_description="${reason}"`]
  return problemReply('CREDENTIAL_INVALID', requestId, { headers, members: { reason } })
}

/** RFC 9110 section 15.5.16. */
const acceptsJson = { headers: ['accept', 'application/json'] }

const isJson = (contentType = ''): boolean => contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'

/** Undefined if the text is not JSON, which no operation accepts as a body. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const toReply = (answer: LoginApiAnswer, requestId: string): Reply => {
  switch (answer.kind) {
    case 'answer':
      return { status: 200, headers: jsonHeaders, body: JSON.stringify(answer.body) }
    case 'unknown':
      return problemReply('INTERACTION_NOT_FOUND', requestId)
    case 'unreadable':
      return problemReply('BODY_INVALID', requestId, { members: { reason: answer.reason } })
    case 'conflict':
      return problemReply('DECISION_CONFLICT', requestId, { members: { reason: answer.reason } })
  }
}

const jsonHeaders = ['content-type', 'application/json', 'cache-control', 'no-store']

const toFailure = (error: unknown, requestId: string, log: Logger): Reply => {
  if (error instanceof StoreUnavailableError) {
    return problemReply('STORE_UNAVAILABLE', requestId, { headers: ['retry-after', '1'] })
  }
  log.error({ event: 'request_failed', request_id: requestId, err: error }, 'a request failed')
  return problemReply('INTERNAL', requestId)
}
