import crypto, { type ScryptOptions } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { scrypt } = crypto
const works: number[] = []

/** Records N × r × p of each run, and then runs it. Only code that is imported after this module calls it. */
crypto.scrypt = ((...args: Parameters<typeof scrypt>) => {
  const { N = 0, r = 0, p = 0 } = args[3] as ScryptOptions
  works.push(N * r * p)
  scrypt(...args)
}) as typeof scrypt
syncBuiltinESMExports()

/** The N × r × p of all scrypt runs that this process starts until the attempt has ended. */
export const countWork = async (attempt: () => unknown): Promise<number> => {
  works.length = 0
  await attempt()
  return works.reduce((sum, work) => sum + work, 0)
}
