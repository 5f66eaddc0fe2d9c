import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningRedis, startRedis } from '../../support/redis.ts'
import { startSilentProxy } from '../../support/silent-proxy.ts'
import { anyClients, awayMs, type Form, type Staged, type Teardown, untilWritable } from './form.ts'

type Outage = Pick<Staged, 'goAway' | 'comeBack'>

/** One Redis, and what happens to it. */
const single = (
  name: string,
  title: string,
  outageOf: (redis: RunningRedis) => Outage,
  redisArguments: readonly string[] = [],
): Form => ({
  name,
  title,
  start: async t => {
    const redis = await startRedis(t, redisArguments)
    return { store: redis.url, clientIds: anyClients, ...outageOf(redis) }
  },
})

const stop = (redis: RunningRedis): Outage => ({
  goAway: async () => redis.pause(),
  comeBack: async () => {
    await sleep(awayMs)
    redis.resume()
    await untilWritable(redis)
  },
})

const startBehindSilence = async (t: Teardown): Promise<Staged> => {
  const network = await startSilentProxy(t, (await startRedis(t)).port)
  return {
    store: `redis://127.0.0.1:${network.port}`,
    clientIds: anyClients,
    goAway: async () => network.fallSilent(),
    comeBack: async () => {
      await sleep(awayMs)
      network.speak()
    },
  }
}

/** A millisecond for each of some thousand keys. */
const slowToLoad = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024']
const fill = "for nth = 1, 2500 do redis.call('SET', 'key' .. nth, nth) end"

export const singleForms: readonly Form[] = [
  single('paused', '`CLIENT PAUSE`', redis => ({
    goAway: async () => void (await redis.client.client('PAUSE', awayMs)),
    comeBack: () => untilWritable(redis),
  })),
  single('stopped', '`SIGSTOP`, `SIGCONT`', stop),
  // The kernel drops what would connect to a program whose queue is full, as a broken network does.
  single('deaf', '`SIGSTOP`, and new connections get no answer', stop, ['--tcp-backlog', '1']),
  { name: 'silent', title: 'the network is silent', start: startBehindSilence },
  single('killed', '`kill -9`, and started', redis => ({
    goAway: redis.kill,
    comeBack: async () => {
      await sleep(awayMs)
      await redis.start()
    },
  })),
  single(
    'loading',
    '`kill -9`, and started with data to load',
    redis => ({
      goAway: async () => {
        await redis.client.eval(fill, 0)
        await redis.client.save()
        await redis.kill()
      },
      comeBack: redis.start,
    }),
    slowToLoad,
  ),
]
