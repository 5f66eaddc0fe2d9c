/** Parameters of one request, each present once and not empty (RFC 6749 sections 3.1 and 3.2). */
export type Form = ReadonlyMap<string, string>
