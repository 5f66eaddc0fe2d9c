import t from 'tap'
import { openConnection } from '../support/raw-client.ts'
import { startCountingUpstream } from '../support/recording-upstream.ts'
import { get } from './support/faulty-answers.ts'
import { follow } from './support/faulty-upstream.ts'
import { sampleOf, scrape, startGateway } from './support/running.ts'

t.test('an answer of an upstream is counted once, however it is framed', async t => {
  const upstream = await startCountingUpstream(t, follow)
  const gateway = await startGateway(t, { up: upstream.url })
  const answered = async () => sampleOf(await scrape(gateway), 'sidegate_upstream_duration_seconds_count', '"up"')

  for (const [nth, name] of ['ok', 'trailers', 'until-close'].entries()) {
    t.equal((await openConnection(t, gateway.url).send(get(name)).answer()).status, 200)
    t.equal(await answered(), nth + 1, name)
  }
})
