import t from 'tap'
import type { OAuthReply, OAuthRequest } from '../../../src/oauth/protocol.ts'
import { encode, enter, isPage, openBrowserRoom, password, post } from '../support/browser-flow.ts'

type Told = Partial<Pick<OAuthRequest, 'origin' | 'fetchSite'>>

const setup = async (t: Parameters<typeof openBrowserRoom>[0]) => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const sendFrom = (told: Told): Promise<OAuthReply> => {
    const form = encode({ csrf: guest.csrf, username: 'alice', password })
    return room.interaction({ ...post(form, guest.path, guest.cookie), ...told })
  }
  return { guest, sendFrom }
}

t.test(
  'a form is refused when the browser reports another origin, even with csrf and cookie (RFC 6749 section 10.12; checklist 56)',
  async t => {
    const { guest, sendFrom } = await setup(t)
    const elsewhere: readonly Told[] = [
      { fetchSite: 'same-site' },
      { fetchSite: 'cross-site', origin: 'null' },
      { fetchSite: 'same-origin, cross-site' },
      { fetchSite: '' },
      { origin: 'https://localhost:8080' },
      { origin: 'http://localhost:8081' },
      { origin: 'http://evil.localhost:8080', fetchSite: 'same-origin' },
      { origin: '' },
    ]

    for (const told of elsewhere) t.ok(isPage(await sendFrom(told), 403), JSON.stringify(told))

    t.match((await guest.show()).body, /id="sign-in"/, 'nothing has changed')
  },
)

const own: readonly Told[] = [
  {},
  { fetchSite: 'same-origin', origin: 'null' },
  { fetchSite: 'none' },
  { fetchSite: 'same-origin', origin: 'http://localhost:8080' },
  { origin: 'null' },
]
t.test(
  "a form of the gateway's own page is accepted, whichever of these headers the browser sends (RFC 6749 section 10.12; checklist 56)",
  async t => {
    for (const told of own) {
      const { sendFrom } = await setup(t)

      t.equal((await sendFrom(told)).status, 303, JSON.stringify(told))
    }
  },
)
