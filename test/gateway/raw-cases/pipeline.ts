import { neighbours, passed, type RawCase, request, shown } from './raw-case.ts'

const get = request('GET BASE/x')

/** Requests that are refused and end their connection: the bytes behind them are not a request. */
const endings: readonly string[] = [
  'GET BASE/../x HTTP/1.1\r\nHOST\r\n\r\n',
  'GET BASE/x HTTP/1.1\r\n\r\n',
  'GET BASE/x HTTP/1.1\r\nHOST\r\nHOST\r\n\r\n',
  'POST BASE/x HTTP/1.1\r\nHOST\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST BASE/x HTTP/1.1\r\nHOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'POST BASE/x HTTP/1.1\r\nHOST\r\nContent-Length: 5, 5\r\n\r\nhello',
  'garbage\r\n\r\n',
  `GET BASE/x HTTP/1.1\r\nHOST\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`,
  'CONNECT gw.test:443 HTTP/1.1\r\nHOST\r\n\r\n',
]

/** Requests that are refused and leave the connection open; their bodies are read. */
const keeping: readonly (readonly [bytes: string, status: number])[] = [
  [request('GET /nowhere'), 404],
  [request('POST /nowhere', ['Content-Length: 5'], 'hello'), 404],
  [request('POST /nowhere', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'), 404],
  [request('PATCH BASE/x', ['Content-Length: 5'], 'hello'), 405],
  [request('GET BASE-guarded/x'), 401],
  [request('POST BASE-guarded/x', ['Content-Length: 5'], 'hello'), 401],
  [request('OPTIONS *'), 204],
]

/** Several requests in one packet. */
export const pipelineCases: readonly RawCase[] = [
  { id: 'P01', what: 'three requests', bytes: get.repeat(3), ...passed, further: [[200], [200]], forwarded: 3 },
  {
    id: 'P02',
    what: 'pipelined requests with bodies of every kind',
    bytes:
      request('POST BASE/x', ['Content-Length: 5'], 'hello') +
      request('POST BASE/x', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n') +
      request('POST BASE/x', ['Content-Length: 0']) +
      get,
    statuses: [200],
    further: [[200], [200], [200]],
    forwarded: 4,
  },
  {
    id: 'P03',
    what: 'a request behind one that ends the connection',
    bytes: request('GET BASE/x', ['Connection: close']) + get,
    ...passed,
    closes: true,
  },
  {
    id: 'P04',
    what: 'a request behind one in HTTP/1.0',
    bytes: `GET BASE/x HTTP/1.0\r\nHOST\r\n\r\n${get}`,
    ...passed,
    closes: true,
  },
  {
    id: 'P05',
    what: 'a body that is longer than declared: the rest is read as the next request',
    bytes: request('POST BASE/x', ['Content-Length: 4'], 'hello evil\r\n\r\n'),
    statuses: [200],
    further: [[400]],
    forwarded: 1,
    closes: true,
  },
  ...neighbours('P06', endings, bytes => ({
    what: `a request behind ${shown(bytes)}`,
    bytes: bytes + get,
    statuses: [400, 431, 501],
    closes: true,
  })),
  ...neighbours('P07', keeping, ([bytes, status]) => ({
    what: `a request behind ${shown(bytes)}`,
    bytes: bytes + get,
    statuses: [status],
    further: [[200]],
    forwarded: 1,
  })),
]
