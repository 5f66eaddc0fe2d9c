import { seeOther } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Parameters } from '../forms/parameters.ts'
import { consentPage } from '../pages/consent-page.ts'
import type { OAuthReply } from '../protocol.ts'
import { splitScope } from '../scope.ts'
import { createCompletion } from './completion.ts'
import type { PageSession } from './interaction-session.ts'

/** The second stage: whether the client may have what it asks for. */
export interface Consent {
  show(visit: PageSession): OAuthReply
  submit(visit: PageSession, form: Parameters): OAuthReply | Promise<OAuthReply>
}

export const createConsent = (deps: OAuthDeps): Consent => {
  const completion = createCompletion(deps)

  const show = (visit: PageSession, status: 200 | 400): OAuthReply =>
    consentPage({
      status,
      setting: visit.setting,
      interactionId: visit.id,
      csrf: visit.csrf,
      clientName: visit.client.client_name,
      redirect_uri: visit.record.redirect_uri,
      username: visit.record.username ?? '',
      scopes: splitScope(visit.record.scope),
      scopeTexts: deps.options.scopeTexts,
    })

  return {
    show: visit => show(visit, 200),
    submit: (visit, form) => {
      const decision = form.get('decision')
      if (decision === 'allow') return completion.allow(visit)
      if (decision === 'deny') return completion.decline(visit, 'access_denied', 'The request was declined.')
      // The sign-in form sent twice: its second coming finds the question that the first led to.
      return decision === undefined ? seeOther(`/interaction/${visit.id}`) : show(visit, 400)
    },
  }
}
