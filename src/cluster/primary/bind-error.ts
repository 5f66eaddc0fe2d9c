import { messageOf } from '../../errors.ts'

/** The configuration keys of the addresses that Sidegate binds. */
export type AddressKey = 'listen' | 'admin' | 'internal.listen'

/** The environment variables that the demo configuration takes the addresses from. */
const variables: Readonly<Record<AddressKey, string | undefined>> = {
  listen: 'SIDEGATE_LISTEN',
  admin: 'SIDEGATE_ADMIN',
  'internal.listen': undefined,
}

/**
 * Adds to a bind error the setting by which the address can be changed.
 * @param isDemo whether the demo configuration is used
 * @throws Error the one line of `binding`, with the setting
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
