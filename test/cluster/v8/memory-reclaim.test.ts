import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { residentMiB } from '../../support/memory.ts'
import { type RunningSidegate, startSidegate } from '../../support/sidegate.ts'

const many = 4000
/** Connections that are opened together must fit into the accept queue of the listening socket. */
const atOnce = 100

const request = 'GET /nowhere HTTP/1.1\r\nHost: gw.test\r\n\r\n'

/** Opens `many` connections; resolves when each has received an answer, and leaves them open. */
const openMany = async ({ url }: RunningSidegate): Promise<readonly Socket[]> => {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  while (sockets.length < many) {
    const some = Array.from({ length: atOnce }, () => connect(Number(port), hostname))
    for (const socket of some) socket.write(request)
    await Promise.all(some.map(socket => once(socket, 'data')))
    sockets.push(...some)
  }
  return sockets
}

t.test('the memory of many connections is returned to the system after they are closed', async t => {
  const sidegate = await startSidegate(t, { workers: 1, store: 'memory:' })
  const [worker = 0] = sidegate.workerPids()
  const before = residentMiB(worker)
  const sockets = await openMany(sidegate)
  const meanwhile = residentMiB(worker)
  for (const socket of sockets) socket.destroy()

  const aThird = (meanwhile - before) / 3
  await eventually(() => residentMiB(worker) < meanwhile - aThird)

  t.ok(residentMiB(worker) < meanwhile - aThird, `${before}, then ${meanwhile}, at last ${residentMiB(worker)} MiB`)
  t.same(sidegate.workerPids(), [worker], 'in the same process')
})

t.test('if the system does not report the memory of a process, the gateway serves all the same', async t => {
  const withoutProc = ['bwrap', '--bind', '/', '/', '--dev', '/dev', '--tmpfs', '/proc', '--die-with-parent']
  const { url } = await startSidegate(t, { workers: 1 }, {}, withoutProc)

  t.equal((await fetch(url)).status, 404)
})
