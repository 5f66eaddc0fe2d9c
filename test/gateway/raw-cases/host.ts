import { neighbours, passed, type RawCase, refused, shown } from './raw-case.ts'

const hosts: readonly string[] = [
  'gw.test evil',
  'gw.test, evil',
  'gw.test/evil',
  'gw.test?evil',
  'gw.test#evil',
  'evil@gw.test',
  'gw.test\\evil',
  'gw.test:80:90',
  'gw.test:evil',
  'gw.test:-1',
  '[::1',
  '::1',
  '[evil]',
  'gw.t\xe9st',
  '<evil>',
  '"evil"',
]

const goodHosts: readonly string[] = [
  'gw.test',
  'GW.TEST',
  'gw.test:80',
  'gw.test:',
  '127.0.0.1',
  '[::1]',
  '[2001:db8::1]:8080',
  'a_b.test',
  'xn--gw-x.test.',
]

/** The `Host` field (RFC 9112 section 3.2). */
export const hostCases: readonly RawCase[] = [
  { id: 'R01', what: 'no Host', bytes: 'GET BASE/x HTTP/1.1\r\n\r\n', ...refused },
  {
    id: 'R01b',
    what: 'no Host, but a body',
    bytes: 'POST BASE/x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello',
    ...refused,
  },
  { id: 'R01c', what: 'no Host in HTTP/1.0', bytes: 'GET BASE/x HTTP/1.0\r\n\r\n', ...passed, closes: true },
  { id: 'R02', what: 'two different Hosts', bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\nHost: evil\r\n\r\n', ...refused },
  { id: 'R02b', what: 'the same Host twice', bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\nHOST\r\n\r\n', ...refused },
  {
    id: 'R02c',
    what: 'two Hosts in two spellings',
    bytes: 'GET BASE/x HTTP/1.1\r\nHOST\r\nhOST: evil\r\n\r\n',
    ...refused,
  },
  { id: 'R02d', what: 'two Hosts in HTTP/1.0', bytes: 'GET BASE/x HTTP/1.0\r\nHOST\r\nHost: evil\r\n\r\n', ...refused },
  {
    id: 'R02e',
    what: 'an empty Host before a good one',
    bytes: 'GET BASE/x HTTP/1.1\r\nHost:\r\nHOST\r\n\r\n',
    ...refused,
  },
  {
    id: 'R02h',
    what: 'two empty Hosts',
    bytes: 'GET BASE/x HTTP/1.1\r\nHost:\r\nHost:\r\n\r\n',
    ...refused,
  },
  { id: 'R02i', what: 'a tab behind Host', bytes: 'GET BASE/x HTTP/1.1\r\nHost\t: gw.test\r\n\r\n', ...refused },
  { id: 'R02f', what: 'a Host after a space', bytes: 'GET BASE/x HTTP/1.1\r\n Host: evil\r\nHOST\r\n\r\n', ...refused },
  {
    id: 'R02g',
    what: 'a Host that is folded into the next line',
    bytes: 'GET BASE/x HTTP/1.1\r\nHost: gw\r\n .test\r\n\r\n',
    ...refused,
  },
  ...neighbours('R03', hosts, host => ({
    what: `Host: ${shown(host)}`,
    bytes: `GET BASE/x HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ...refused,
  })),
  ...neighbours('R03 good', goodHosts, host => ({
    what: `Host: ${host}`,
    bytes: `GET BASE/x HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ...passed,
    fields: { 'x-forwarded-host': host },
  })),
  {
    id: 'R03 empty',
    what: 'an empty Host',
    bytes: 'GET BASE/x HTTP/1.1\r\nHost:\r\n\r\n',
    statuses: [200, 400],
    forwarded: 1,
  },
]
