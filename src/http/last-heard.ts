import type { Socket } from 'node:net'
import { answerUnderWay, forgetAnswer } from './answer-under-way.ts'

/**
 * Takes the listeners off a connection that has ended, and the answer that it waited for: they have heard the last of it. Each of
 * Node's streams has a function that V8 puts among the old objects at once, and with it the stream stays until a full
 * collection, and all that it leads to. Of thousands of short connections a second that is most of what there is: collections
 * of young objects took five times as long, and others waited for them.
 */
export const dropListenersAtEnd = (socket: Socket): Socket => socket.on('close', dropListeners)

function dropListeners(this: Socket): void {
  // Those that are being told of the end still are: Node tells those that were there when it began.
  this.removeAllListeners()
  if (answerUnderWay(this)) process.nextTick(forgetAnswer, this)
}
