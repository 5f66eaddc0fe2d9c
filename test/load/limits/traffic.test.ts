import t from 'tap'
import { burst, byZipf, evenly, inOrder } from './traffic.ts'

t.test('even traffic has the same time between all requests', async t => {
  t.same(
    evenly('a', 200, 20).map(({ atMs }) => atMs),
    [0, 5, 10, 15],
  )
})

t.test('a burst begins and ends at its planned instants', async t => {
  const sends = burst('a', 100, 960, 999)

  t.equal(sends.length, 100)
  t.equal(sends[0]?.atMs, 960)
  t.equal(sends.at(-1)?.atMs, 999)
})

t.test("by Zipf's law the second client asks about half as often as the first", async t => {
  const sends = byZipf(['a', 'b', 'c', 'd'], 1000, 20_000)
  const of = (client: string): number => sends.filter(send => send.client === client).length

  t.equal(of('a') + of('b') + of('c') + of('d'), 20_000)
  t.ok(Math.abs(of('b') / of('a') - 1 / 2) < 0.05)
  t.ok(Math.abs(of('d') / of('a') - 1 / 4) < 0.05)
})

t.test('parts together are in the order of time', async t => {
  t.same(
    inOrder([burst('a', 2, 0, 10), burst('b', 2, 5, 15)]).map(({ atMs }) => atMs),
    [0, 5, 10, 15],
  )
})
