import type { Reply } from '../http/reply.ts'
import type { OAuthReply } from '../oauth/protocol.ts'
import { ownMember } from '../own-member.ts'

/** A response of the authorization server as an HTTP response: header fields as a list, an object as JSON. */
export const toReply = ({ status, headers, body }: OAuthReply): Reply => {
  const fields = toFields(headers)
  if (typeof body === 'string' || body === undefined) return { status, headers: fields, body: body ?? '' }
  if (!('content-type' in headers)) fields.push('content-type', 'application/json')
  return { status, headers: fields, body: JSON.stringify(body) }
}

const toFields = (headers: OAuthReply['headers']): string[] => {
  const fields: string[] = []
  // `Object.entries` would create an array for each field.
  for (const name of Object.keys(headers)) {
    const value = ownMember(headers, name) ?? []
    if (typeof value === 'string') fields.push(name, value)
    else for (const one of value) fields.push(name, one)
  }
  return fields
}
