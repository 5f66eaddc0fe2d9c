import type { ParsedTopLevel } from './parse/parsed-config.ts'

/** The issuer that is written, or the one that this machine alone can reach. */
export const issuerOf = ({ issuer, listen, tls }: ParsedTopLevel): string =>
  issuer ?? new URL(`${tls ? 'https' : 'http'}://localhost:${listen.port}`).origin
