import type { Socket } from 'node:net'
import { trimmedSlice } from '../../../src/http/message/grammar.ts'
import { createHttpServer } from '../../../src/http/server/http-server.ts'
import { defaultHttpServerOptions } from '../../../src/http/server/options.ts'
import type { Request } from '../../../src/http/server/request.ts'
import type { RequestHead } from '../../../src/http/server/request-parser.ts'
import type { Response } from '../../../src/http/server/response.ts'
import type { CreateServerUnderTest, RequestUnderTest } from './server-under-test.ts'

/** The server whose reading is held to Node's. */
export const createOurServer: CreateServerUnderTest = handlers => {
  const server = createHttpServer(defaultHttpServerOptions, {
    request: (request, response) => {
      const req = toRequestUnderTest(request)
      response.listener = {
        onClose: () => {
          if (response.refusal) handlers.refused(response.refusal.reason ?? 'timeout')
        },
        onDrain: () => undefined,
      }
      if (!request.head.asksForWebSocket) handlers.request(req, () => answer(request, response))
      else if (hasContent(request.head)) refuseHandshake(response, handlers.refused)
      else {
        request.upgrade()
        handlers.upgrade(req)
      }
    },
    refused: (_code, reason) => handlers.refused(reason ?? 'timeout'),
    dropped: () => {},
  })
  return { accept: socket => server.serve(socket as unknown as Socket) }
}

const toRequestUnderTest = ({ head, body }: Request): RequestUnderTest => ({
  method: head.method,
  target: head.target,
  version: `1.${head.versionMinor}`,
  rawHeaders: rawHeadersOf(head),
  readBody: (onData, onEnd) => (body ? body.read({ onData, onEnd }) : onEnd()),
  pauseBody: () => body?.pause(),
  resumeBody: () => body?.resume(),
})

const rawHeadersOf = ({ text, lineStarts }: RequestHead): readonly string[] =>
  lineStarts.flatMap((at, place) => {
    const colon = text.indexOf(':', at)
    const end = (lineStarts[place + 1] ?? text.length + 2) - 2
    return [text.slice(at, colon), trimmedSlice(text, colon + 1, end)]
  })

const noContent = { status: 204, lines: '', length: undefined, hasDate: true } as const

const answer = ({ head }: Request, response: Response): void => {
  // Without it the connection closes, because the handler has not read the body.
  if (head.fields.expect !== undefined) response.writeContinue()
  response.writeHead(noContent)
  response.end()
}

const hasContent = ({ framing }: RequestHead): boolean =>
  framing.by === 'chunks' || (framing.by === 'length' && framing.bytes > 0)

/** The gateway refuses such a handshake, whose body would be the beginning of the other protocol. */
const refuseHandshake = (response: Response, refused: (reason: string) => void): void => {
  refused('upgrade-with-body')
  response.writeHead(noContent)
  response.end()
}
