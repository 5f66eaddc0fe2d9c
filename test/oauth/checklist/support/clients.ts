import type { TestConfig } from '../../../support/sidegate.ts'
import { callback } from './browser.ts'

/** Clients of the configuration. */

/** For tokens of the client and of users; it authenticates by Basic with the secret `<client_id>-secret`. */
export const confidentialClient = (client_id: string, changes: TestConfig = {}): TestConfig => ({
  ...registration(client_id, ['client_credentials', 'authorization_code', 'refresh_token']),
  client_secret: `${client_id}-secret`,
  ...changes,
})

/** For tokens of users; it has no credentials. */
export const publicClient = (client_id: string, changes: TestConfig = {}): TestConfig => ({
  ...registration(client_id, ['authorization_code', 'refresh_token']),
  token_endpoint_auth_method: 'none',
  ...changes,
})

const registration = (client_id: string, grant_types: readonly string[]): TestConfig => ({
  client_id,
  grant_types,
  redirect_uris: [callback],
  scope: 'read write',
})
