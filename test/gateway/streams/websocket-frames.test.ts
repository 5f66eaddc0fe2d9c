import t from 'tap'
import { closeCodes, closeFrame, FrameReader } from '../../../src/gateway/forwarding/websocket-frames.ts'
import { createRandom } from '../../support/random.ts'

const opcodes = { continuation: 0, text: 1, close: 8, ping: 9 } as const

/** A frame as RFC 6455 section 5.2 has it; its content is noise, so that it looks like headers too. */
const frame = (opcode: number, contentBytes: number, isMasked: boolean, random: () => number): Buffer => {
  const noise = (bytes: number): Buffer => Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256)))
  const mask = isMasked ? 0x80 : 0
  const length = Buffer.alloc(contentBytes < 126 ? 0 : contentBytes < 65_536 ? 2 : 8)
  if (length.length === 2) length.writeUInt16BE(contentBytes)
  if (length.length === 8) length.writeBigUInt64BE(BigInt(contentBytes))
  const second = length.length === 0 ? contentBytes : length.length === 2 ? 126 : 127
  const header = Buffer.from([0x80 | opcode, mask | second])
  return Buffer.concat([header, length, noise(isMasked ? 4 : 0), noise(contentBytes)])
}

const sizes = [0, 1, 125, 126, 127, 300, 65_535, 65_536, 70_000]

t.test('the end of a frame is found byte by byte, and nowhere else', async t => {
  const random = createRandom(1)
  for (const isMasked of [true, false]) {
    for (const size of sizes) {
      const bytes = frame(opcodes.text, size, isMasked, random)
      const reader = new FrameReader()
      const ends: number[] = []

      bytes.forEach((_, at) => {
        reader.read(bytes.subarray(at, at + 1))
        if (reader.isBetweenFrames) ends.push(at + 1)
      })

      t.same(ends, [bytes.length], `${size} bytes${isMasked ? ', masked' : ''}`)
    }
  }
})

t.test('it is the same whatever pieces the frames come in', async t => {
  const random = createRandom(2)
  const frames = Array.from({ length: 200 }, (_, n) => frame(opcodes.text, sizes[n % 7] ?? 0, random() < 0.5, random))
  const ends = new Set<number>()
  frames.reduce((end, each) => ends.add(end + each.length) && end + each.length, 0)
  const bytes = Buffer.concat(frames)

  const reader = new FrameReader()
  for (let at = 0; at < bytes.length; ) {
    const next = Math.min(bytes.length, at + 1 + Math.floor(random() * 600))
    reader.read(bytes.subarray(at, next))
    if (reader.isBetweenFrames !== ends.has(next)) t.fail(`after ${next} bytes`)
    at = next
  }
  t.ok(reader.isBetweenFrames)
})

t.test('what is read to the end of a frame leaves the next one', async t => {
  const random = createRandom(3)
  for (const size of sizes) {
    const [one, other] = [frame(opcodes.text, size, true, random), frame(opcodes.ping, 5, true, random)]
    for (const begun of [1, 2, Math.floor(one.length / 2), one.length - 1]) {
      const reader = new FrameReader()
      reader.read(one.subarray(0, begun))

      t.equal(reader.readFrameEnd(Buffer.concat([one.subarray(begun), other])), one.length - begun)
      t.equal(reader.readFrameEnd(other), 0, 'between frames there is nothing to end')
    }
  }
})

t.test('a Close counts once all of it has passed', async t => {
  const reader = new FrameReader()
  const close = closeFrame(closeCodes.goingAway, 'bye', true)

  reader.read(frame(opcodes.ping, 8, true, createRandom(4)))
  t.equal(reader.hasClosed, false)
  reader.read(close.subarray(0, -1))
  t.equal(reader.hasClosed, false)
  reader.read(close.subarray(-1))
  t.equal(reader.hasClosed, true)
})

t.test('a Close of ours says code and reason, and is masked for a server alone', async t => {
  const plain = closeFrame(closeCodes.policyViolation, 'no more', false)
  const masked = closeFrame(closeCodes.policyViolation, 'no more', true)
  const mask = masked.subarray(2, 6)
  const unmasked = masked.subarray(6).map((byte, place) => byte ^ (mask[place % 4] ?? 0))

  t.same(plain, Buffer.from([0x88, 9, 1008 >> 8, 1008 & 255, ...Buffer.from('no more')]))
  t.same([...masked.subarray(0, 2)], [0x88, 0x80 | 9])
  t.same(Buffer.from(unmasked), plain.subarray(2))
})
