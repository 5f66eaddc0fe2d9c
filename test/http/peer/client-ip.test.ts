import t from 'tap'
import { addressKey, createAddressReader, plainAddress } from '../../../src/http/peer/client-ip.ts'

t.test('without trusted proxies the peer is the client, whatever it says', async t => {
  const addresses = createAddressReader([])

  t.equal(addresses.read('192.0.2.1', '198.51.100.1'), '192.0.2.1')
  t.notOk(addresses.isTrusted('192.0.2.1'))
})

t.test('behind trusted proxies the first address from the right that is not one is the client', async t => {
  const addresses = createAddressReader(['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])
  const cases = [
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '203.0.113.1, 198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1,10.9.9.9 , 192.0.2.7', '198.51.100.1'],
    ['10.1.2.3', '10.9.9.9', '10.9.9.9'],
    ['10.1.2.3', '198.51.100.1:1234', '198.51.100.1'],
    ['10.1.2.3', '[2001:db8::1]:1234', '2001:db8::1'],
    ['fd00::1', '2001:db8::1', '2001:db8::1'],
    ['10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1, garbage', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1, unknown, 10.9.9.9', '10.9.9.9'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['192.0.2.8', '198.51.100.1', '192.0.2.8'],
  ] as const

  for (const [peer, forwardedFor, client] of cases) {
    t.equal(addresses.read(peer, forwardedFor), client, `${peer} says ${forwardedFor}`)
  }
})

t.test('which peers are trusted', async t => {
  const addresses = createAddressReader(['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])

  for (const address of ['10.255.255.255', '192.0.2.7', 'fdff::1']) t.ok(addresses.isTrusted(address), address)
  for (const address of ['11.0.0.0', '192.0.2.8', 'fe80::1', '']) t.notOk(addresses.isTrusted(address), address)
})

t.test('an address is read bare, in one spelling', async t => {
  const cases = [
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:80', '192.0.2.1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:80', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0000:0:0::0001', '2001:db8::1'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['fe80::1%eth0', undefined],
    ['example.com', undefined],
    ['_hidden', undefined],
    ['', undefined],
    ['300.1.1.1', undefined],
  ] as const

  for (const [text, address] of cases) t.equal(plainAddress(text), address, text)
})

t.test('an IPv4 address counts by itself, an IPv6 one with its /64', async t => {
  t.equal(addressKey('192.0.2.1'), '192.0.2.1')
  const sameNetwork = ['2001:db8:1:2::', '2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:0:0:0:9']
  for (const address of sameNetwork) t.equal(addressKey(address), '2001:db8:1:2::/64', address)
  t.equal(addressKey('2001:db8::1'), '2001:db8:0:0::/64')
  t.equal(addressKey('::1'), '0:0:0:0::/64')
  t.equal(addressKey('1::'), '1:0:0:0::/64')
  t.not(addressKey('2001:db8:1:3::1'), '2001:db8:1:2::/64')
})
