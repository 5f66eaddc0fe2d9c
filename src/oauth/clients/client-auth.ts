import type { ClientKeyring } from '../client-keys/key-source.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Form } from '../forms/form.ts'
import type { ProvenClient } from '../one-time.ts'
import type { ClientRegistration } from '../options.ts'
import { type MaybePromise, whenKnown } from '../when-known.ts'
import type { OAuthRequest } from '../wire.ts'
import { createAssertionCheck } from './assertion.ts'
import { createCertificateCheck } from './certificate.ts'
import { createSecretCheck } from './client-secret.ts'
import { type PresentedAssertion, type PresentedSecret, readPresented, readQuerySecret } from './presented.ts'
import { invalidRequest, refuseWhenLimited, unauthenticated } from './refusals.ts'

/** Client authentication (RFC 6749 section 2.3). */
export interface ClientAuth {
  /**
   * The client that the request proves to be, by its registered method and no other. Whether an assertion was used
   * before is still to be asked; if it was, that counts as a failed proof.
   * @throws OAuthError invalid_request for two mechanisms at once or a client_id that is another's; invalid_client for
   * no, malformed or wrong credentials; rate_limit_exceeded after too many wrong ones; temporarily_unavailable where a
   * client's keys cannot be fetched
   */
  authenticate(form: Form, request: OAuthRequest): MaybePromise<ProvenClient>
  /** The same for the metadata operation: secret in the query string or HTTP Basic, whatever method is registered. */
  authenticateQuery(request: OAuthRequest): MaybePromise<ClientRegistration>
}

export const createClientAuth = (deps: OAuthDeps, keyring: ClientKeyring): ClientAuth => {
  const { options, clients, failures } = deps
  const isSecretOf = createSecretCheck(options.clients, deps.clock)
  const checkAssertion = createAssertionCheck(deps, keyring)
  const isCertificateOf = createCertificateCheck(keyring, deps.clock)

  /** Runs one check of a proof under its name and address. What it gives is the proven thing; undefined is counted. */
  const prove = <T>(
    client_id: string,
    address: string,
    check: (client: ClientRegistration | undefined) => MaybePromise<T | undefined>,
  ): MaybePromise<T> => {
    const name = client_id.slice(0, longestName)
    return failures.inTurn(name, address, () => {
      refuseWhenLimited(failures.blockedMs(name, address))
      return whenKnown(check(clients.find(client_id)), found => found ?? refuse(name, address))
    })
  }
  const refuse = async (name: string, address: string): Promise<never> => {
    refuseWhenLimited(await failures.count(name, address))
    throw unauthenticated()
  }

  const proveSecret = (presented: PresentedSecret, address: string): MaybePromise<ClientRegistration> =>
    prove(presented.client_id, address, client => {
      const candidate = client && mayUse(client, presented.method) ? client : undefined
      return whenKnown(isSecretOf(candidate, presented.client_secret), isRight => (isRight ? candidate : undefined))
    })

  const proveAssertion = async (
    { client_id, assertion }: PresentedAssertion,
    form: Form,
    request: OAuthRequest,
  ): Promise<ProvenClient> => {
    const { client, use } = await prove(client_id, request.address, client => {
      const candidate = client && mayUse(client, 'private_key_jwt') ? client : undefined
      return whenKnown(
        checkAssertion(candidate, assertion, request),
        use => use && candidate && { client: candidate, use },
      )
    })
    requireSameClient(client, form)
    // Out of turn: nobody guesses here, and a client that asks for much at once need not wait for itself.
    const refuseReplay = () => refuse(client_id.slice(0, longestName), request.address)
    return { client, unspent: [{ ...use, refuse: refuseReplay }] }
  }

  const proveName = (client_id: string, request: OAuthRequest): MaybePromise<ClientRegistration> => {
    const client = clients.find(client_id)
    if (!client) throw unauthenticated()
    if (client.token_endpoint_auth_method === 'none') return client
    return whenKnown(isCertificateOf(client, request), isRight => {
      if (!isRight) throw unauthenticated()
      return client
    })
  }

  return {
    authenticate: (form, request) => {
      const presented = readPresented(form, request.authorization)
      switch (presented.kind) {
        case 'secret':
          return whenKnown(proveSecret(presented, request.address), client => proven(requireSameClient(client, form)))
        case 'assertion':
          return proveAssertion(presented, form, request)
        case 'name':
          return whenKnown(proveName(presented.client_id, request), proven)
      }
    },
    authenticateQuery: request => proveSecret(readQuerySecret(request), request.address),
  }
}

/** By what may be used as often as one likes. */
const proven = (client: ClientRegistration): ProvenClient => ({ client, unspent: [] })

/** Names are counted in memory and in the store; a longer one is nobody's. */
const longestName = 256

const mayUse = (client: ClientRegistration, method: PresentedSecret['method']): boolean =>
  method === 'query' || client.token_endpoint_auth_method === method

/** RFC 6749 section 3.2.1: a client_id in the body beside another proof must say the same. */
const requireSameClient = (client: ClientRegistration, form: Form): ClientRegistration => {
  const named = form.get('client_id')
  if (named !== undefined && named !== client.client_id) {
    throw invalidRequest('The client_id is not that of the authenticated client')
  }
  return client
}
