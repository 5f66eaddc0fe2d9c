import t from 'tap'
import { findFreePort } from '../support/free-port.ts'
import { startStrictUpstream } from '../support/recording-upstream.ts'
import { startGateway } from './support/running.ts'

t.test(
  'a target that refuses is passed over for one that does not, body and all (RFC 9110 section 15.6.3; checklist U01)',
  async t => {
    const upstream = await startStrictUpstream(t)
    const dead = [`http://127.0.0.1:${await findFreePort()}`, `http://127.0.0.1:${await findFreePort()}`]
    const { url } = await startGateway(
      t,
      { up: upstream.url },
      { upstreams: { up: { targets: [dead[0], upstream.url, dead[1]] } } },
    )

    for (let i = 0; i < 6; i++) {
      const response = await fetch(`${url}/up/${i}`, { method: 'POST', body: 'b'.repeat(100_000) })

      t.equal(response.status, 200)
      t.match(await response.json(), { target: `/up/${i}`, body: 'b'.repeat(100_000) })
    }
    t.equal(upstream.requests.length, 6)
  },
)
