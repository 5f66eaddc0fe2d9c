import type { PrimaryMessage } from '../messages.ts'

/**
 * Sends a message; one that holds a configuration as several. Its clients go ahead a part at a time: a worker that took a
 * hundred thousand at once would answer nobody meanwhile.
 */
export const sendInParts = (message: PrimaryMessage, send: (message: PrimaryMessage) => void): void => {
  if (message.type !== 'configure' && message.type !== 'propose') {
    send(message)
    return
  }
  const { config, clients } = message.config
  for (const part of clients.parts) send({ type: 'clients', part })
  send({ ...message, config: { config, clients: { ...clients, parts: [] } } })
}
