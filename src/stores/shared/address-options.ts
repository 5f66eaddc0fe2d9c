/** The options after the `?` of a Redis address: `NAME=VALUE`, joined by `&`, each value percent-encoded. */
export interface AddressOptions {
  /** Put before every key. */
  readonly prefix: string
  /** The login for the Sentinels; empty if they require none. */
  readonly sentinelLogin: Login
  readonly tlsFiles: TlsFiles
}

export interface Login {
  readonly username?: string
  readonly password?: string
}

/** Files in PEM, relative to the working directory of Sidegate; they are read for each new connection. */
export interface TlsFiles {
  /** The CAs that verify Redis's certificate. Left out: those of the system. */
  readonly caFile?: string
  /** A certificate, then the chain above it, for a Redis that requires one. */
  readonly certFile?: string
  readonly keyFile?: string
  /** The name in Redis's certificate. Left out: the host that the connection is made to. */
  readonly servername?: string
}

interface Problem {
  readonly problem: string
}

const optionNames = [
  'prefix',
  'ca_file',
  'cert_file',
  'key_file',
  'servername',
  'sentinel_username',
  'sentinel_password',
] as const
type OptionName = (typeof optionNames)[number]
type Values = Partial<Record<OptionName, string>>

const defaultPrefix = 'sidegate:'

/**
 * @param text what follows the `?`, or undefined. The message of a problem never repeats it, because it may contain a
 * password.
 */
export const parseAddressOptions = (
  text: string | undefined,
  { tls, sentinels }: { readonly tls: boolean; readonly sentinels: boolean },
): AddressOptions | Problem => {
  const values = parseValues(text)
  if ('problem' in values) return values as Problem
  const problem = findProblem(values, tls, sentinels)
  if (problem !== undefined) return { problem }
  const { prefix = defaultPrefix, ca_file, cert_file, key_file, servername } = values
  const { sentinel_username, sentinel_password } = values
  return {
    prefix,
    sentinelLogin: {
      ...(sentinel_username !== undefined && { username: sentinel_username }),
      ...(sentinel_password !== undefined && { password: sentinel_password }),
    },
    tlsFiles: {
      ...(ca_file !== undefined && { caFile: ca_file }),
      ...(cert_file !== undefined && { certFile: cert_file }),
      ...(key_file !== undefined && { keyFile: key_file }),
      ...(servername !== undefined && { servername }),
    },
  }
}

const parseValues = (text: string | undefined): Values | Problem => {
  const values: Values = {}
  for (const part of text === undefined ? [] : text.split('&')) {
    const [name, ...rest] = part.split('=')
    const known = optionNames.find(option => option === name)
    if (!known) return { problem: `the options after ? of a Redis address are ${optionNames.join(', ')}` }
    if (values[known] !== undefined) return { problem: `a Redis address takes ${known} only once` }
    const value = decode(rest.join('='))
    if (!value) return { problem: `${known} of a Redis address needs a percent-encoded value` }
    values[known] = value
  }
  return values
}

const findProblem = (values: Values, tls: boolean, sentinels: boolean): string | undefined => {
  const tlsOption = (['ca_file', 'cert_file', 'key_file', 'servername'] as const).find(name => name in values)
  if (tlsOption && !tls)
    return `${tlsOption} of a Redis address goes with rediss://, rediss+sentinel:// or rediss+cluster://`
  if ((values.cert_file === undefined) !== (values.key_file === undefined))
    return 'cert_file and key_file of a Redis address go together'
  const sentinelOption = (['sentinel_username', 'sentinel_password'] as const).find(name => name in values)
  if (sentinelOption && !sentinels) return `${sentinelOption} of a Redis address goes with redis+sentinel://`
  if (values.sentinel_username !== undefined && values.sentinel_password === undefined)
    return 'sentinel_username of a Redis address goes with sentinel_password'
  // A brace would decide the slot in a Cluster, so that all keys were in one slot.
  if (values.prefix !== undefined && !/^[\w.:-]{1,64}$/.test(values.prefix))
    return 'prefix of a Redis address is 1 to 64 letters, digits, dots, colons, hyphens and underscores'
  return undefined
}

/** Undefined if the text is not percent-encoded. */
const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
