import { seeOther } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Parameters } from '../forms/parameters.ts'
import { consentPage } from '../pages/consent-page.ts'
import type { OAuthReply } from '../protocol.ts'
import { splitScope } from '../scope.ts'
import type { Completion } from './completion.ts'
import type { PageSession } from './interaction-session.ts'

/** The second stage of an interaction: the user allows or denies what the client asks for. */
export interface Consent {
  show(session: PageSession): OAuthReply
  submit(session: PageSession, form: Parameters): OAuthReply | Promise<OAuthReply>
}

export const createConsent = ({ options }: OAuthDeps, completion: Completion): Consent => {
  const show = (session: PageSession, status: 200 | 400): OAuthReply =>
    consentPage({
      status,
      pageContext: session.pageContext,
      interactionId: session.id,
      csrf: session.csrf,
      clientName: session.client.client_name,
      redirect_uri: session.record.redirect_uri,
      username: session.record.username ?? '',
      scopes: splitScope(session.record.scope),
      scopeTexts: options.scopeTexts,
    })

  return {
    show: session => show(session, 200),
    submit: (session, form) => {
      const decision = form.get('decision')
      if (decision === 'allow') return completion.allow(session)
      if (decision === 'deny') return completion.decline(session, 'access_denied', 'The request was declined.')
      // The sign-in form was sent twice. The second request arrives at the consent stage and is redirected to its page.
      return decision === undefined ? seeOther(`/interaction/${session.id}`) : show(session, 400)
    },
  }
}
