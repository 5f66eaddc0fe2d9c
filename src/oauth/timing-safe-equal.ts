import { timingSafeEqual } from 'node:crypto'

/** Compares a presented secret with the right one in constant time; that their lengths differ may show. */
export const timingSafeEqualText = (presented: string, expected: string): boolean => {
  const [a, b] = [Buffer.from(presented), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
