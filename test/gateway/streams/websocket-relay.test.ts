import t, { type Test } from 'tap'
import { closeCodes } from '../../../src/gateway/forwarding/websocket-frames.ts'
import { WebSocketRelay } from '../../../src/gateway/forwarding/websocket-relay.ts'
import { eventually } from '../../support/eventually.ts'
import { openSocketPair } from './support/socket-pair.ts'

/** A relay between a client and an upstream, both at the other end of a TCP connection. */
const startRelay = async (t: Test) => {
  const [client, upstream] = [await openSocketPair(t), await openSocketPair(t)]
  return { client, upstream, relay: new WebSocketRelay(client.near, upstream.near) }
}

/** Unmasked frames: a relay does not look at what they say. */
const hello = Buffer.from('\x81\x05hello', 'latin1')
const endOfFragments = Buffer.from('\x80\x01!', 'latin1')
const beginningOfFragments = Buffer.from('\x01\x05hello', 'latin1')
const closing = Buffer.from('\x88\x02\x03\xe8', 'latin1')

const isClose = (bytes: Buffer, isMasked: boolean): boolean => {
  const mask = isMasked ? bytes.subarray(2, 6) : Buffer.alloc(4)
  const content = Buffer.from(bytes.subarray(isMasked ? 6 : 2).map((byte, place) => byte ^ (mask[place % 4] ?? 0)))
  return (
    bytes[0] === 0x88 && (bytes[1] ?? 0) >> 7 === Number(isMasked) && content.readUInt16BE() === closeCodes.goingAway
  )
}

t.test('what one says the other hears, and a half that closes closes the other', async t => {
  const { client, upstream, relay } = await startRelay(t)

  client.far.write(hello)
  upstream.far.write(closing)
  await eventually(() => upstream.received().length > 0 && client.received().length > 0)
  client.far.end()

  await eventually(() => relay.isGone)
  t.same(upstream.received(), hello)
  t.same(client.received(), closing)
})

t.test('between frames Close is sent at once, to the upstream as a client sends it', async t => {
  const { client, upstream, relay } = await startRelay(t)
  client.far.write(hello)
  upstream.far.write(beginningOfFragments)
  await eventually(() => upstream.received().length === hello.length)
  await eventually(() => client.received().length === beginningOfFragments.length)

  relay.close(closeCodes.goingAway, 'bye')
  await eventually(() => upstream.received().length > hello.length)
  await eventually(() => client.received().length > beginningOfFragments.length)

  t.ok(isClose(upstream.received().subarray(hello.length), true))
  t.ok(isClose(client.received().subarray(beginningOfFragments.length), false))
})

t.test('in the middle of a frame Close waits for its end, and what follows goes nowhere', async t => {
  const { client, upstream, relay } = await startRelay(t)
  client.far.write(hello.subarray(0, 3))
  await eventually(() => upstream.received().length === 3)

  relay.close(closeCodes.goingAway, 'bye')
  await eventually(() => client.received().length > 0)
  t.equal(upstream.received().length, 3)
  client.far.write(Buffer.concat([hello.subarray(3), hello, closing]))
  upstream.far.write(closing)
  await eventually(() => relay.isGone && client.far.closed && upstream.far.closed)

  t.same(upstream.received().subarray(0, hello.length), hello)
  t.ok(isClose(upstream.received().subarray(hello.length), true))
  t.ok(isClose(client.received(), false), 'the answer of the other side is for the gateway')
})

t.test('the connections end when both sides have answered, whatever they say before', async t => {
  const { client, upstream, relay } = await startRelay(t)

  relay.close(closeCodes.goingAway, 'bye')
  upstream.far.write(Buffer.concat([endOfFragments, hello, closing]))
  await eventually(() => client.received().length > 0)
  t.notOk(relay.isGone)
  client.far.write(closing)

  await eventually(() => relay.isGone)
  t.ok(isClose(client.received(), false))
})

t.test('they end as well when neither answers', async t => {
  const { relay } = await startRelay(t)

  relay.close(closeCodes.goingAway, 'bye')

  await eventually(() => relay.isGone)
})

t.test('a side that has sent Close gets no second Close', async t => {
  const { client, upstream, relay } = await startRelay(t)
  client.far.write(closing)
  await eventually(() => upstream.received().length === closing.length)

  relay.close(closeCodes.goingAway, 'bye')
  await eventually(() => client.received().length > 0)
  upstream.far.write(closing)
  await eventually(() => relay.isGone && upstream.far.closed)

  t.same(upstream.received(), closing)
})

t.test('silence is counted from the last byte of either side', async t => {
  const { client, upstream, relay } = await startRelay(t)
  t.equal(relay.silentForMs(1000), 0)
  t.equal(relay.silentForMs(1400), 400)

  client.far.write(hello)
  await eventually(() => upstream.received().length > 0)
  t.equal(relay.silentForMs(1500), 0)
  upstream.far.write(hello)
  await eventually(() => client.received().length > 0)
  t.equal(relay.silentForMs(1600), 0)
  t.equal(relay.silentForMs(1900), 300)
})

const content = Buffer.alloc(1024 * 1024)
const longFrame = Buffer.concat([Buffer.from('\x82\x7f\0\0\0\0\0\x10\0\0', 'latin1'), content])

t.test('the relay does not read ahead of a side that does not read', async t => {
  const { client, upstream } = await startRelay(t)
  upstream.far.pause()

  for (let sent = 0; sent < 32; sent++) client.far.write(longFrame)
  await eventually(() => client.near.isPaused())
  t.ok(upstream.near.writableLength < 1024 * 1024)
  upstream.far.resume()

  await eventually(() => upstream.far.bytesRead === 32 * longFrame.length)
})

t.test('a reset is detected even if the other side does not read, and closes it at once', async t => {
  for (const reset of ['client', 'upstream'] as const) {
    const { relay, ...sides } = await startRelay(t)
    const deaf = sides[reset === 'client' ? 'upstream' : 'client']
    deaf.far.pause()
    for (let sent = 0; sent < 32; sent++) sides[reset].far.write(longFrame)
    await eventually(() => sides[reset].near.isPaused())

    sides[reset].far.resetAndDestroy()
    await eventually(() => relay.silentForMs(0) === 0 && relay.isGone)

    t.ok(deaf.near.destroyed, reset)
  }
})
