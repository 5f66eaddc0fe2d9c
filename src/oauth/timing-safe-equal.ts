import { timingSafeEqual } from 'node:crypto'

/** Compares a presented secret with the expected one in constant time. The time may show that their lengths differ. */
export const timingSafeEqualText = (presented: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(presented), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
