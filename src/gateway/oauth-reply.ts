import type { Reply } from '../http/reply.ts'
import type { OAuthReply } from '../oauth/protocol.ts'
import { ownMember } from '../own-member.ts'

/** An answer of the authorization server as HTTP has it: fields in a row, an object as JSON. */
export const toReply = ({ status, headers, body }: OAuthReply): Reply => {
  const fields = toFields(headers)
  if (typeof body === 'string' || body === undefined) return { status, headers: fields, body: body ?? '' }
  if (!('content-type' in headers)) fields.push('content-type', 'application/json')
  return { status, headers: fields, body: JSON.stringify(body) }
}

const toFields = (headers: OAuthReply['headers']): string[] => {
  const fields: string[] = []
  // Not by `entries`, which makes a list for each field.
  for (const name of Object.keys(headers)) {
    const value = ownMember(headers, name) ?? []
    if (typeof value === 'string') fields.push(name, value)
    else for (const one of value) fields.push(name, one)
  }
  return fields
}
