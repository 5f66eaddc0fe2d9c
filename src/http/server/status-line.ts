import { reasonPhrases } from '../../reason-phrases.ts'

const lines = new Map<number, string>()

/** `HTTP/1.1 200 OK` and its CRLF. */
export const statusLine = (status: number): string => {
  const known = lines.get(status)
  if (known !== undefined) return known
  const line = `HTTP/1.1 ${status} ${reasonPhrases.get(status) ?? 'unknown'}\r\n`
  lines.set(status, line)
  return line
}
