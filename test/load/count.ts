/** A whole number above 0, from the command line. @throws TypeError if it is not one */
export const toCount = (text: string): number => {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new TypeError(`a whole number above 0 is wanted, not ${text}`)
  return count
}
