/** What is wrong with a resource indicator and what would be right, or undefined (RFC 8707 section 2). */
export const resourceFault = (text: string): string | undefined =>
  URL.canParse(text) && /^[\x21-\x7e]+$/.test(text) && !text.includes('#')
    ? undefined
    : 'must be an absolute URI without fragment, such as https://api.example.com/accounts (RFC 8707 section 2)'
