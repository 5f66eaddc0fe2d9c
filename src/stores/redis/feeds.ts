import { Cluster } from 'ioredis'
import type { FeedStore } from '../ports/feeds.ts'
import { defineScript, type RedisConnection } from './connection.ts'
import { names } from './names.ts'

/** KEYS: feeds. Answers the newest place of each, or nothing. */
const endsScript = `
local ends = {}
for i, key in ipairs(KEYS) do ends[i] = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2] or '' end
return ends
`

const feeds = [names.feed, names.cutoffs, names.clientFeed] as const

/** In a Cluster each feed is in a slot of its own, so it takes a call for each. */
export const createFeeds = (connection: RedisConnection): FeedStore => {
  const perCall = connection instanceof Cluster ? 1 : feeds.length
  const askFor = defineScript(connection, 'sidegateFeedEnds', perCall, endsScript)
  const ask = async (...keys: readonly string[]) => (await askFor(...keys)) as readonly string[]
  return {
    ends: async () => {
      const answers = perCall === 1 ? await Promise.all(feeds.map(feed => ask(feed))) : [await ask(...feeds)]
      const [revocations = '', cutoffs = '', clients = ''] = answers.flat()
      return { revocations, cutoffs, clients }
    },
  }
}
