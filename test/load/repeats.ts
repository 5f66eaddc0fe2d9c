/**
 * Finds memory that a worker keeps after invalid requests (I6): `npx node test/load/repeats.ts [TIMES]` drives the
 * hard cases of test/gateway/raw-cases through a running gateway, half of them broken off, and compares the resident
 * memory of its worker after three times so many (10,000) with that after the first thousands. The exit code is 1 if
 * the memory never comes within a tenth of it, or the worker died.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { rawCases } from '../gateway/raw-cases/all.ts'
import { fetchToken, startGateway } from '../gateway/support/running.ts'
import { RawConnection } from '../support/raw-client.ts'
import { startCountingUpstream } from '../support/recording-upstream.ts'

const times = Number(process.argv[2] ?? 10_000)
/** By then V8's heap has the size that this load needs. */
const warmUpTimes = 15_000
/** At a time, as several clients would send them. */
const atOnce = 50
/** How long one case may take. Cases that the gateway keeps open are closed then. */
const patienceMs = 50
/**
 * Memory goes up and down by more than a tenth as V8 collects. The least of several measurements shows memory that is
 * kept for good.
 */
const rounds = 3
const mostGrowth = 1.1

const residentMiB = (pid: number): number => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

const cleanUps: (() => unknown)[] = []
const run = { teardown: (cleanUp: () => unknown) => cleanUps.push(cleanUp) }
const upstream = await startCountingUpstream(run)
const gateway = await startGateway(run, { counting: upstream.url })
const token = await fetchToken(gateway.url)
const [workerPid = 0] = gateway.workerPids()

const messages = rawCases.map(({ bytes }) =>
  bytes.replaceAll('BASE', '/counting').replaceAll('HOST', 'Host: gw.test').replaceAll('TOKEN', token),
)

const repeat = async (from: number): Promise<void> => {
  const connections = Array.from({ length: atOnce }, (_, place) => {
    const connection = new RawConnection(gateway.url)
    const bytes = messages[(from + place) % messages.length] ?? ''
    return connection.send(place % 2 === 0 ? bytes : bytes.slice(0, (from * 7) % bytes.length))
  })
  await sleep(patienceMs)
  for (const [place, connection] of connections.entries()) {
    if (place % 3 === 0) connection.reset()
    else connection.close()
  }
}

/** @returns what the worker holds after it, in MiB; not a number where it died */
const repeatTimes = async (count: number): Promise<number> => {
  for (let done = 0; done < count; done += atOnce) await repeat(done)
  await sleep(3000)
  return gateway.workerPids().includes(workerPid) ? residentMiB(workerPid) : Number.NaN
}

const beforeMiB = await repeatTimes(warmUpTimes)
const afterMiB: number[] = []
for (let round = 0; round < rounds; round++) afterMiB.push(await repeatTimes(times))

console.log(`MiB after ${warmUpTimes} cases: ${beforeMiB.toFixed(0)}`)
console.log(`after each ${times} more: ${afterMiB.map(each => each.toFixed(0)).join(', ')}`)
console.log(gateway.output.filter(line => line.includes('worker_crashed')).join('\n'))
for (const cleanUp of cleanUps.reverse()) await cleanUp()
process.exitCode = Math.min(...afterMiB) <= beforeMiB * mostGrowth ? 0 : 1
