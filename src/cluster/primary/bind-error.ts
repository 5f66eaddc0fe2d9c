import { messageOf } from '../../errors.ts'

/** Where an address stands that Sidegate binds, in the configuration. */
export type AddressKey = 'listen' | 'admin' | 'internal.listen'

/** Variables that the configuration which comes along takes them from. */
const variables: Readonly<Record<AddressKey, string | undefined>> = {
  listen: 'SIDEGATE_LISTEN',
  admin: 'SIDEGATE_ADMIN',
  'internal.listen': undefined,
}

/**
 * Adds to what is wrong with an address where it can be changed.
 * @param isDemo whether the configuration is the one that comes along
 * @throws Error the one line of `binding`, with the place
 */
export const withListenerName = async <T>(key: AddressKey, isDemo: boolean, binding: Promise<T>): Promise<T> => {
  try {
    return await binding
  } catch (error) {
    const variable = isDemo ? variables[key] : undefined
    const advice = variable === undefined ? `change ${key} in the configuration` : `set ${variable} to another address`
    throw new Error(`${messageOf(error)}; ${advice}`, { cause: error })
  }
}
