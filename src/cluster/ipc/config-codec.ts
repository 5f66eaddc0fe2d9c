import type { ClientIntake, SidegateConfig } from '../../app.ts'
import { ownMember, setOwnMember } from '../../own-member.ts'
import { Secret } from '../../secret.ts'
import type { EncodedConfig, PrimaryMessage } from '../messages.ts'

/** An object with this key stands for what JSON does not know, or for an object that has the key itself. */
const mark = '$'

/** Shares with the configuration what JSON holds anyway. */
export const encodeConfig = (config: SidegateConfig): EncodedConfig => {
  const { clients, ...oauth } = config.oauth
  return { config: pack({ ...config, oauth }), clients: clients.pack() }
}

/**
 * The configuration as it was, frozen again. It is made of the parcel, which is not to be used any more.
 * @param intake has what came of its clients before (`sendInParts`)
 */
export const decodeConfig = (encodedConfig: EncodedConfig, intake: ClientIntake): SidegateConfig => {
  const { oauth, ...config } = unpack(encodedConfig.config) as SidegateConfig
  const { facts, parts } = encodedConfig.clients
  parts.forEach(intake.add)
  return Object.freeze({ ...config, oauth: Object.freeze({ ...oauth, clients: intake.open(facts) }) })
}

/** What is undefined is left out, as from any JSON. */
const pack = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Secret) return { [mark]: 'secret', value: value.reveal() }
  if (value instanceof Map) return { [mark]: 'map', value: pack([...value]) }
  const packed = packMembers(value as Members)
  return !Array.isArray(value) && mark in value ? { [mark]: 'object', value: packed } : packed
}

type Members = Record<string, unknown>

/** The same object where no member is packed, else a copy. */
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
