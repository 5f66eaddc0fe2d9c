import { METHODS } from 'node:http'
import type { RandomSource } from './random-source.ts'

/** A request line without its line end. */
export const generateRequestLine = (random: RandomSource, oddity: number): string => {
  const space = (): string => (random.chance(oddity / 4) ? random.pick(oddSpaces) : ' ')
  if (random.chance(0.02)) return 'OPTIONS * HTTP/1.1'
  return `${methodOf(random, oddity)}${space()}${targetOf(random, oddity)}${space()}${versionOf(random, oddity)}`
}

const methodOf = (random: RandomSource, oddity: number): string =>
  random.chance(oddity / 2) ? random.pick(oddMethods) : random.pick(methods)

const targetOf = (random: RandomSource, oddity: number): string => {
  if (random.chance(oddity / 2)) return random.pick(oddTargets)
  if (random.chance(oddity / 4)) return `/${String.fromCharCode(random.int(256))}`
  return random.pick(targets)
}

const versionOf = (random: RandomSource, oddity: number): string => {
  if (random.chance(oddity / 2)) return random.pick(oddVersions)
  return random.chance(0.1) ? 'HTTP/1.0' : 'HTTP/1.1'
}

const methods = ['GET', 'GET', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'] as const

const oddMethods: readonly string[] = [
  'get',
  'Get',
  'FOOBAR',
  'G\tET',
  'G\0ET',
  'G@T',
  'GE',
  'GETT',
  '',
  'HTTP/1.1',
  '"GET"',
  'POST,GET',
  'CONNECT',
  'TRACE',
  'PRI',
  'A'.repeat(300),
  ...METHODS,
]

const targets = ['/', '/a', '/a/b?c=d&e=%20', '/a%2fb', '/?', '//a', '/a;b=c', '/../a', '/a:80/@b'] as const

const oddTargets: readonly string[] = [
  '',
  'a',
  'a:80',
  'a.test:443',
  '[::1]:443',
  '?a',
  '#a',
  '/a#b',
  '/a#b#c?d',
  '/a b',
  '/a\tb',
  '/a\0b',
  '/a\rb',
  '/a\nb',
  '/a\x7fb',
  '/caf\xe9',
  '/caf\xc3\xa9',
  '\xff',
  '/a\\b',
  '/"<>^`{|}',
  '*',
  '**',
  'http://a.test/',
  'https://a.test:443/a?b',
  '*/a',
  'http:a',
  'http:/a',
  'http://',
  'http:///a',
  'http://a@b/',
  'http://a@b@c/',
  'http://[::1]:80/a',
  'http://a<b/',
  'http://a?b',
  'http://a#b',
  '1http://a/',
  'h-t+p.x://a/',
  'javascript:a',
  '../a',
  '/a HTTP/1.1\r\nHost: b\r\n\r\nGET /c',
  `/${'a'.repeat(3000)}`,
  `/${'a'.repeat(17_000)}`,
]

const oddVersions: readonly string[] = [
  'HTTP/0.9',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/2',
  'HTTP/3.0',
  'HTTP/1',
  'HTTP/1.',
  'HTTP/.1',
  'HTTP/1.10',
  'HTTP/01.1',
  'HTTP/11.1',
  'HTTP/1,1',
  'HTTP/1.1.1',
  'HTTP /1.1',
  'HTTP/ 1.1',
  'http/1.1',
  'Http/1.1',
  'HTTPS/1.1',
  'HTTP-1.1',
  'HTP/1.1',
  'RTSP/1.0',
  'RTSP/1.1',
  'ICE/1.0',
  'SIP/2.0',
  '',
  'HTTP/1.1 ',
  'HTTP/1.1\t',
  'HTTP/1.1 x',
  'HTTP/1.1\0',
]

const oddSpaces = ['  ', '\t', '', ' \t', '\x0b', '\x0c', '\r', '\n', '\r\n', '\xa0', '\0', '    '] as const
