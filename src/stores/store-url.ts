import { Secret } from '../secret.ts'
import { type Login, parseAddressOptions, type TlsFiles } from './shared/address-options.ts'

/** The store of the configuration's `store:`. A Redis address may contain a password, so it is a Secret. */
export type StoreUrl = { readonly kind: 'memory' } | { readonly kind: 'sqlite'; readonly path: string } | RedisUrl

export interface RedisUrl {
  readonly kind: 'redis'
  readonly mode: 'single' | 'sentinel' | 'cluster'
  readonly url: Secret
}

/** The address that a RedisUrl stands for. */
export interface RedisAddress {
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  /** If present, all connections use TLS, those to the Sentinels too. */
  readonly tls?: TlsFiles
  readonly login: Login
  /** Number of the database; only a single Redis has several. */
  readonly database: number
  /** The name of the primary at the Sentinels; empty otherwise. */
  readonly sentinelName: string
  readonly sentinelLogin: Login
  /** Put before every key. */
  readonly prefix: string
}

interface Problem {
  readonly problem: string
}

const forms =
  'memory:, sqlite:FILE, redis://HOST:PORT, redis+sentinel://HOST:PORT,HOST:PORT/NAME or redis+cluster://HOST:PORT,HOST:PORT (rediss for TLS)'

/**
 * Parses `store:` of the configuration. The message of a problem never repeats a Redis address, which may contain a
 * password.
 */
export const parseStoreUrl = (text: string): StoreUrl | Problem => {
  if (text === 'memory:') return { kind: 'memory' }
  if (text.startsWith('sqlite:')) return parseSqlite(text.slice('sqlite:'.length))
  const scheme = /^(rediss?(?:\+sentinel|\+cluster)?):\/\//.exec(text)?.[1]
  if (scheme === undefined) return { problem: `a store is one of ${forms}` }
  const url: RedisUrl = { kind: 'redis', mode: modeOf(scheme), url: new Secret(text) }
  const address = parseRedisAddress(url)
  return 'problem' in address ? address : url
}

const parseSqlite = (path: string): StoreUrl | Problem =>
  path === '' || path.startsWith('//')
    ? { problem: 'sqlite: needs the path of a file, e.g. sqlite:data/sidegate.db' }
    : { kind: 'sqlite', path }

const modeOf = (scheme: string): RedisUrl['mode'] => {
  if (scheme.endsWith('+sentinel')) return 'sentinel'
  return scheme.endsWith('+cluster') ? 'cluster' : 'single'
}

/**
 * Parses a RedisUrl: `SCHEME://[USER:PASSWORD@]HOST:PORT[,HOST:PORT…][/REST][?OPTIONS]`, user and password
 * percent-encoded.
 */
export const parseRedisAddress = ({ mode, url }: RedisUrl): RedisAddress | Problem => {
  const parts = /^([a-z+]+):\/\/(?:([^@/]*)@)?([^@/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url.reveal())
  if (!parts) return { problem: `a Redis address has the form ${forms}` }
  const [, scheme = '', credentials, hostList = '', rest = '', query] = parts
  const hosts = hostList.split(',').map(parseHost)
  if (!hosts.every(host => host !== undefined)) return { problem: 'a Redis host has the form HOST or HOST:PORT' }
  const problem = findProblem(mode, hosts.length, rest)
  if (problem !== undefined) return { problem }
  const login = parseCredentials(credentials)
  if (!login) return { problem: 'user and password of a Redis address must be percent-encoded' }
  const tls = scheme.startsWith('rediss')
  const options = parseAddressOptions(query, { tls, sentinels: mode === 'sentinel' })
  if ('problem' in options) return options
  return {
    hosts,
    ...(tls && { tls: options.tlsFiles }),
    login,
    database: mode === 'single' ? Number(rest) : 0,
    sentinelName: mode === 'sentinel' ? rest : '',
    sentinelLogin: options.sentinelLogin,
    prefix: options.prefix,
  }
}

const findProblem = (mode: RedisUrl['mode'], hosts: number, rest: string): string | undefined => {
  if (mode === 'single' && hosts > 1) return 'several Redis hosts need redis+sentinel:// or redis+cluster://'
  if (mode === 'sentinel' && rest === '')
    return "redis+sentinel:// ends with the primary's name: redis+sentinel://HOST:PORT/NAME"
  if (mode === 'cluster' && rest !== '') return 'redis+cluster:// has nothing after its hosts'
  if (mode === 'single' && !/^\d{0,5}$/.test(rest))
    return 'a Redis address ends with the number of a database, or with nothing'
  return undefined
}

const defaultPort = 6379

const parseHost = (text: string): { host: string; port: number } | undefined => {
  const parts = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/.exec(text)
  if (!parts?.[1]) return undefined
  const port = Number(parts[2] ?? defaultPort)
  return port > 0 && port < 65_536 ? { host: parts[1].replace(/^\[|\]$/g, ''), port } : undefined
}

const parseCredentials = (text: string | undefined): Login | undefined => {
  if (!text) return {}
  const [user = '', ...rest] = text.split(':')
  try {
    const username = decodeURIComponent(user)
    const password = decodeURIComponent(rest.join(':'))
    return { ...(username && { username }), ...(password && { password }) }
  } catch {
    return undefined
  }
}
