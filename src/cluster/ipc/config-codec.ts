import type { ClientIntake, SidegateConfig } from '../../app.ts'
import { ownMember, setOwnMember } from '../../own-member.ts'
import { Secret } from '../../secret.ts'
import type { EncodedConfig, PrimaryMessage } from '../messages.ts'

/** An object with this key stands for a value that JSON cannot represent, or for an object that has the key itself. */
const mark = '$'

/** Encodes a configuration. The result shares with it all values that JSON can represent. */
export const encodeConfig = (config: SidegateConfig): EncodedConfig => {
  const { clients, ...oauth } = config.oauth
  return { config: pack({ ...config, oauth }), clients: clients.pack() }
}

/**
 * Decodes a configuration and freezes it. It reuses the objects of `encodedConfig`, which must not be used afterwards.
 * @param intake contains the clients that were received before (`sendInParts`)
 */
export const decodeConfig = (encodedConfig: EncodedConfig, intake: ClientIntake): SidegateConfig => {
  const { oauth, ...config } = unpack(encodedConfig.config) as SidegateConfig
  const { facts, parts } = encodedConfig.clients
  parts.forEach(intake.add)
  return Object.freeze({ ...config, oauth: Object.freeze({ ...oauth, clients: intake.open(facts) }) })
}

/** Undefined members are left out, as in any JSON. */
const pack = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Secret) return { [mark]: 'secret', value: value.reveal() }
  if (value instanceof Map) return { [mark]: 'map', value: pack([...value]) }
  const packed = packMembers(value as Members)
  return !Array.isArray(value) && mark in value ? { [mark]: 'object', value: packed } : packed
}

type Members = Record<string, unknown>

/** The same object if no member has to be encoded, else a copy. */
const packMembers = (members: Members): Members => {
  let copy: Members | undefined
  for (const key of Object.keys(members)) {
    const member = ownMember(members, key)
    const packed = pack(member)
    if (packed === member) continue
    copy ??= (Array.isArray(members) ? [...members] : { ...members }) as Members
    setOwnMember(copy, key, packed)
  }
  return copy ?? members
}

const unpack = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  const isMarked = !Array.isArray(value) && mark in value
  return isMarked ? unpackMarked(value as unknown as Marked) : unpackMembers(value as Members)
}

type Marked =
  | { readonly [mark]: 'secret'; readonly value: string }
  | { readonly [mark]: 'map'; readonly value: unknown }
  | { readonly [mark]: 'object'; readonly value: Members }

const unpackMarked = (marked: Marked): object => {
  switch (marked[mark]) {
    case 'secret':
      return Object.freeze(new Secret(marked.value))
    case 'map':
      return Object.freeze(new Map(unpack(marked.value) as readonly (readonly [unknown, unknown])[]))
    case 'object':
      return unpackMembers(marked.value)
  }
}

const unpackMembers = (members: Members): Members => {
  for (const key of Object.keys(members)) {
    const member = ownMember(members, key)
    const unpacked = unpack(member)
    if (unpacked !== member) setOwnMember(members, key, unpacked)
  }
  return Object.freeze(members)
}

/**
 * Sends a message. The clients of a configuration are sent before it, a part at a time, because a worker that decoded a
 * hundred thousand at once would answer no request meanwhile.
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
