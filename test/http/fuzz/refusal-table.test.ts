import t from 'tap'
import { compareReadings } from './compare-readings.ts'
import { nodeDeviations } from './node-deviations.ts'
import { readAsNode } from './node-reading.ts'
import { createReader } from './our-reading.ts'
import { createOurServer } from './our-server.ts'
import { refusalTable } from './refusal-table.ts'

const read = createReader(createOurServer)

t.test('each row of the refusal table has an example that Node accepts and our server refuses', async t => {
  for (const { reason, example } of refusalTable) {
    const bytes = Buffer.from(example, 'latin1')
    const [ours, node] = [await read([bytes]), readAsNode(bytes)]

    t.same(ours.end, { is: 'refused', reason }, `our server refuses ${reason}`)
    t.match(node, { messages: [{ isComplete: true }] }, `Node accepts ${reason}`)
    t.same(compareReadings(ours, node, example), { is: 'we-refuse', reason })
  }
})

t.test('each reason has one row', async t => {
  t.equal(new Set(refusalTable.map(({ reason }) => reason)).size, refusalTable.length)
})

/** Two requests each, the first of which makes Node deviate. */
const examples: Readonly<Record<string, string>> = {
  'proxy-connection': 'GET /1 HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n',
  'close-in-trailers':
    'POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nConnection: close\r\n\r\n',
  'declined-upgrade': 'GET /1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  'tab-behind-coding': 'POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n',
}

t.test('Node still deviates as the comparison declares', async t => {
  for (const { name } of nodeDeviations) {
    const text = `${examples[name]}GET /2 HTTP/1.1\r\nHost: a\r\n\r\n`
    const bytes = Buffer.from(text, 'latin1')
    const [ours, node] = [await read([bytes]), readAsNode(bytes)]

    t.equal(ours.messages.length, 2, `our server reads both requests of ${name}`)
    t.same(compareReadings(ours, node, text), { is: 'node-deviates', deviation: name })
  }
})
