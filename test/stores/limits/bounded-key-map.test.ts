import t from 'tap'
import { BoundedKeyMap, mostAddresses } from '../../../src/stores/limits/bounded-key-map.ts'

const client = (nth: number) => ({ key: `client ${nth}` })
const address = (nth: number) => ({ key: `address ${nth}`, byAddress: true }) as const

t.test('a value is found by its key, and clients and addresses have separate keys', async t => {
  const values = new BoundedKeyMap<string>(() => false)
  values.add({ key: 'one' }, 'a client')
  values.add({ key: 'one', byAddress: true }, 'an address')

  t.equal(values.find({ key: 'one' }), 'a client')
  t.equal(values.find({ key: 'one', byAddress: true }), 'an address')
  t.equal(values.find({ key: 'two' }), undefined)
})

t.test('the newest addresses are kept, and no client is forgotten because of them', async t => {
  const values = new BoundedKeyMap<number>(() => false)
  values.add(client(0), 0)
  for (let nth = 0; nth < mostAddresses + 10; nth++) values.add(address(nth), nth)

  t.equal(values.find(client(0)), 0)
  t.equal(values.find(address(9)), undefined)
  t.equal(values.find(address(10)), 10)
  t.equal(values.find(address(mostAddresses + 9)), mostAddresses + 9)
  t.equal(values.size, mostAddresses + 1)
})

t.test('clients and addresses that have expired are forgotten when others are added', async t => {
  const values = new BoundedKeyMap<number>(value => value === 0)
  for (const keyed of [client, address]) for (let nth = 0; nth < 100; nth++) values.add(keyed(nth), nth < 50 ? 0 : 1)
  for (const keyed of [client, address]) for (let nth = 100; nth < 200; nth++) values.add(keyed(nth), 1)

  t.equal(values.find(client(0)), undefined)
  t.equal(values.find(address(0)), undefined)
  t.equal(values.size, 300)
})

t.test('expired clients and addresses are also forgotten when only known keys are looked up', async t => {
  const values = new BoundedKeyMap<number>(value => value === 0)
  values.add(client(0), 0)
  values.add(address(0), 0)
  values.add(client(1), 1)

  for (let nth = 0; nth < 200; nth++) values.find(client(1))

  t.equal(values.size, 1)
})
