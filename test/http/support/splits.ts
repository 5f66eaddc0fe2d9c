import { createRandom } from '../../support/random.ts'

/** Of more bytes than these not every split in two, but as many random ones. */
const most = 200

/**
 * The pieces in which bytes may arrive: all at once, one by one, cut in two at every byte, and cut at random places,
 * the same in every run.
 * @param text latin1
 */
export const splits = (text: string): readonly (readonly Buffer[])[] => {
  const bytes = Buffer.from(text, 'latin1')
  const singly = [...bytes.keys()].map(at => bytes.subarray(at, at + 1))
  const inTwo = [...bytes.keys()].slice(0, most).map(at => [bytes.subarray(0, at), bytes.subarray(at)])
  return [[bytes], singly, ...inTwo, ...randomSplits(bytes)]
}

const randomSplits = (bytes: Buffer): readonly (readonly Buffer[])[] => {
  const random = createRandom(bytes.length)
  return Array.from({ length: 50 }, () => {
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length; ) {
      const end = at + Math.floor(random() ** 3 * bytes.length) + 1
      pieces.push(bytes.subarray(at, end))
      at = end
    }
    return pieces
  })
}
