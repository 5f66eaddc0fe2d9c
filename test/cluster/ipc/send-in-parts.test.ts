import t from 'tap'
import type { SidegateConfig } from '../../../src/app.ts'
import { decodeConfig, encodeConfig, sendInParts } from '../../../src/cluster/ipc/config-codec.ts'
import type { PrimaryMessage } from '../../../src/cluster/messages.ts'
import { createClientIntake } from '../../../src/oauth/clients/configured-clients.ts'
import { acceptedConfig, client } from '../../config/support.ts'

/** The messages that are sent over the IPC channel, which carries JSON. */
const sentFor = (message: PrimaryMessage): readonly PrimaryMessage[] => {
  const sent: PrimaryMessage[] = []
  sendInParts(message, part => sent.push(JSON.parse(JSON.stringify(part))))
  return sent
}

/** The configurations that a worker decodes from the messages, in order. */
const receive = (messages: readonly PrimaryMessage[]): readonly SidegateConfig[] => {
  const intake = createClientIntake()
  return messages.flatMap(message => {
    if (message.type === 'clients') intake.add(message.part)
    return 'config' in message ? [decodeConfig(message.config, intake)] : []
  })
}

const withClients = (count: number, prefix: string): Promise<SidegateConfig> =>
  acceptedConfig(t, {
    clients: Array.from({ length: count }, (_, nth) =>
      client({ client_id: `${prefix}${nth}`, client_secret: `of-${prefix}${nth}` }),
    ),
  })

const factsOf = (config: SidegateConfig | undefined): readonly string[] =>
  [...(config?.oauth.clients ?? [])].map(
    ({ client_id, scope, secrets }) => `${client_id} ${scope} ${secrets.map(({ value }) => value.reveal())}`,
  )

t.test('many clients are sent over the channel in parts, and all of them arrive in order', async t => {
  const config = await withClients(2500, 'c')

  const sent = sentFor({ type: 'propose', id: 7, config: encodeConfig(config) })

  t.same(
    sent.map(message => (message.type === 'clients' ? message.part.length / 2 : message.type)),
    [1000, 1000, 500, 'propose'],
  )
  t.same(receive(sent).map(factsOf), [factsOf(config)])
})

t.test('the clients of one configuration are not added to the next one', async t => {
  const configs = [await withClients(1001, 'a'), await withClients(3, 'b'), await withClients(0, 'c')]

  const sent = configs.flatMap(config => sentFor({ type: 'configure', config: encodeConfig(config) }))

  t.same(receive(sent).map(factsOf), configs.map(factsOf))
})

t.test('a message without a configuration is sent unchanged', async t => {
  t.same(sentFor({ type: 'commit', id: 1 }), [{ type: 'commit', id: 1 }])
})
