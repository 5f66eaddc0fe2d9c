import { type Message, membersOf, type Reading, valuesOf } from './reading.ts'

/** A proper request that Node refuses, or behind which it reads no further. */
export interface NodeDeviation {
  readonly name: string
  readonly sentence: string
  /** @param last the last message that Node has read; its body has not ended if Node refuses it */
  readonly isThis: (last: Message, node: Reading) => boolean
}

/** All of these end a connection early. None makes Node read other requests out of the same bytes. */
export const nodeDeviations: readonly NodeDeviation[] = [
  {
    name: 'proxy-connection',
    sentence: 'Node takes `Proxy-Connection: close` for `Connection: close`. No RFC defines this field.',
    isThis: (last, node) => node.end.is === 'closed' && membersOf(last, 'proxy-connection').includes('close'),
  },
  {
    name: 'close-in-trailers',
    sentence:
      'Node obeys `Connection: close` behind a body. RFC 9110 section 6.5.1 keeps such fields out of the trailers.',
    isThis: ({ trailers }, node) =>
      node.end.is === 'closed' &&
      trailers.some((part, place) => /^(?:proxy-)?connection$/i.test(part) && /close/i.test(trailers[place + 1] ?? '')),
  },
  {
    name: 'declined-upgrade',
    sentence:
      'If the server does not upgrade, Node drops the bytes behind the request that asks for it, and reports no fault in its body.',
    isThis: (last, node) =>
      node.end.is === 'open' &&
      membersOf(last, 'connection').includes('upgrade') &&
      valuesOf(last, 'upgrade').length > 0,
  },
  {
    name: 'tab-behind-coding',
    sentence: 'Node refuses a tab behind `Transfer-Encoding: chunked`, where RFC 9110 section 5.6.3 allows whitespace.',
    isThis: (last, node) =>
      node.end.is === 'refused' &&
      node.end.reason === 'HPE_INVALID_TRANSFER_ENCODING' &&
      !last.isComplete &&
      valuesOf(last, 'transfer-encoding').join().toLowerCase() === 'chunked',
  },
]

export const findNodeDeviation = (node: Reading): string | undefined => {
  const last = node.messages.at(-1)
  return last && nodeDeviations.find(({ isThis }) => isThis(last, node))?.name
}
