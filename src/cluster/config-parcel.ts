import type { SidegateConfig } from '../app.ts'
import { Secret } from '../secret.ts'

/**
 * The configuration on its way from the primary to a worker: what JSON can hold, its secrets in the clear. It goes
 * through the channel between the two, never into arguments or the environment.
 */
export type ConfigParcel = Readonly<Record<string, unknown>>

/** An object with this key stands for what JSON does not know, or for an object that has the key itself. */
const mark = '$'

export const packConfig = (config: SidegateConfig): ConfigParcel => pack(config) as ConfigParcel

/** The configuration as it was, frozen again. */
export const unpackConfig = (parcel: ConfigParcel): SidegateConfig => unpack(parcel) as SidegateConfig

/** What is undefined is left out, as from any JSON. */
const pack = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(pack)
  if (value instanceof Secret) return { [mark]: 'secret', value: value.reveal() }
  if (value instanceof Map) return { [mark]: 'map', value: pack([...value]) }
  const plain = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, pack(part)]))
  return mark in value ? { [mark]: 'object', value: plain } : plain
}

const unpack = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(unpack))
  return Object.freeze(mark in value ? unpackMarked(value as Marked) : unpackMembers(value))
}

type Marked =
  | { readonly [mark]: 'secret'; readonly value: string }
  | { readonly [mark]: 'map'; readonly value: unknown }
  | { readonly [mark]: 'object'; readonly value: object }

const unpackMarked = (marked: Marked): object => {
  switch (marked[mark]) {
    case 'secret':
      return new Secret(marked.value)
    case 'map':
      return new Map(unpack(marked.value) as readonly (readonly [unknown, unknown])[])
    case 'object':
      return unpackMembers(marked.value)
  }
}

const unpackMembers = (members: object): object =>
  Object.fromEntries(Object.entries(members).map(([key, part]) => [key, unpack(part)]))
