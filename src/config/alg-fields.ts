/** The keys of a client that name an algorithm to sign with. */
export const algFields = [
  'token_endpoint_auth_signing_alg',
  'request_object_signing_alg',
  'introspection_signed_response_alg',
  'access_token_signed_response_alg',
] as const
