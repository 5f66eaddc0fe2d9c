import type { Clock } from '../../clock.ts'
import type { ClientAuthFailureReason } from '../../errors.ts'
import type { ClientKeyring } from '../client-keys/keyring.ts'
import type { Form } from '../forms/form.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import type { OAuthRequest } from '../protocol.ts'
import type { SingleUse } from '../replay-protection.ts'
import type { ProofResult, ProofThrottle } from '../secrets/proof-throttle.ts'
import type { SecretOwner } from '../secrets/scrypt-queue.ts'
import { type AssertionOptions, createAssertionCheck } from './assertion.ts'
import { createCertificateCheck } from './certificate.ts'
import { invalidRequest, unauthenticated } from './client-auth-errors.ts'
import type { ClientRegistry } from './client-registry.ts'
import { createSecretCheck } from './client-secret.ts'
import type { ClientRegistration } from './metadata.ts'
import {
  type PresentedAssertion,
  type PresentedSecret,
  readPresented,
  readQuerySecret,
} from './presented-credentials.ts'

/**
 * A client whose proof is right. Whether the proof was used before is known only after the request has queried the
 * store.
 */
export interface ProvenClient {
  readonly client: ClientRegistration
  readonly pendingReplayChecks: readonly SingleUse[]
}

/** Client authentication (RFC 6749 section 2.3). */
export interface ClientAuth {
  /**
   * The client that the request authenticates, by its registered method only. Whether an assertion was used before
   * must still be checked in the store; if it was, that counts as a failed proof.
   * @throws OAuthError invalid_request for two mechanisms at once or the client_id of another client; invalid_client
   * for missing, malformed or wrong credentials; rate_limit_exceeded after too many wrong ones;
   * temporarily_unavailable if a client's keys cannot be fetched
   */
  authenticate(form: Form, request: OAuthRequest): MaybePromise<ProvenClient>
  /** The same for the metadata operation: a secret in the query string or HTTP Basic, whatever method is registered. */
  authenticateQuery(request: OAuthRequest): MaybePromise<ClientRegistration>
}

export interface ClientAuthDeps {
  readonly options: AssertionOptions
  readonly clients: ClientRegistry
  readonly keyring: ClientKeyring
  readonly throttle: ProofThrottle
  readonly clock: Clock
}

export const createClientAuth = ({ options, clients, keyring, throttle, clock }: ClientAuthDeps): ClientAuth => {
  const { run, refuse } = throttle
  const isSecretOf = createSecretCheck(clients, clock)
  const checkAssertion = createAssertionCheck(options, keyring, clock)
  const findCertificateFault = createCertificateCheck(keyring, clock)

  const proveSecret = ({ client_id, method, client_secret }: PresentedSecret, address: string) =>
    run<ClientRegistration>({ name: client_id, address, toRefusal: unauthenticated }, from => {
      const found = findCandidate(client_id, method)
      const candidate = 'fault' in found ? undefined : found.proven
      const owner: SecretOwner = { kind: 'client', account: client_id, address: from }
      return mapMaybe(isSecretOf(candidate, client_secret, owner), isRight => {
        if (!candidate || isRight) return found
        return { fault: 'bad_secret' }
      })
    })
  const faultOfAbsent = (client_id: string): ClientAuthFailureReason =>
    clients.has(client_id) ? 'disabled' : 'unknown_client'
  const findCandidate = (client_id: string, method: PresentedSecret['method']): Candidate => {
    const client = clients.find(client_id)
    if (!client) return { fault: faultOfAbsent(client_id) }
    return mayUse(client, method) ? { proven: client } : { fault: 'auth_method_mismatch' }
  }

  const proveAssertion = async (
    { client_id, assertion }: PresentedAssertion,
    form: Form,
    request: OAuthRequest,
  ): Promise<ProvenClient> => {
    const caller = { name: client_id, address: request.address, toRefusal: unauthenticated }
    const { client, use } = await run<AssertedClient>(caller, () => {
      const found = findCandidate(client_id, 'private_key_jwt')
      if ('fault' in found) return found
      const result = checkAssertion(found.proven, assertion, request)
      return 'proven' in result ? { proven: { client: found.proven, use: result.proven } } : result
    })
    requireSameClient(client, form)
    // Outside the throttle's queue: an assertion cannot be guessed, and a client with many requests at once need not
    // wait for itself.
    return { client, pendingReplayChecks: [{ ...use, refuse: () => refuse(caller, 'jti_used') }] }
  }

  const proveName = (client_id: string, request: OAuthRequest): MaybePromise<ClientRegistration> => {
    const client = clients.find(client_id)
    if (!client) throw unauthenticated(faultOfAbsent(client_id), clients.has(client_id) ? client_id : undefined)
    if (client.token_endpoint_auth_method === 'none') return client
    return mapMaybe(findCertificateFault(client, request), fault => {
      if (fault) throw unauthenticated(fault, client_id)
      return client
    })
  }

  return {
    authenticate: (form, request) => {
      const presented = readPresented(form, request.authorization)
      switch (presented.kind) {
        case 'secret':
          return mapMaybe(proveSecret(presented, request.address), client => proven(requireSameClient(client, form)))
        case 'assertion':
          return proveAssertion(presented, form, request)
        case 'name':
          return mapMaybe(proveName(presented.client_id, request), proven)
      }
    },
    authenticateQuery: request => proveSecret(readQuerySecret(request), request.address),
  }
}

/** A client whose proof may be used any number of times. */
const proven = (client: ClientRegistration): ProvenClient => ({ client, pendingReplayChecks: [] })

type Candidate = Exclude<ProofResult<ClientRegistration>, { readonly later: unknown }>

interface AssertedClient {
  readonly client: ClientRegistration
  readonly use: Omit<SingleUse, 'refuse'>
}

const mayUse = (client: ClientRegistration, method: PresentedSecret['method']): boolean =>
  method === 'query' || client.token_endpoint_auth_method === method

/** RFC 6749 section 3.2.1: a client_id in the body must name the client that the other credential proves. */
const requireSameClient = (client: ClientRegistration, form: Form): ClientRegistration => {
  const named = form.get('client_id')
  if (named !== undefined && named !== client.client_id) {
    throw invalidRequest('The client_id is not that of the authenticated client')
  }
  return client
}
