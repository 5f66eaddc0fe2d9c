import { Cluster } from 'ioredis'
import type { FeedEnds, FeedStore } from '../ports/feeds.ts'
import { defineScript, type RedisConnection } from './connection.ts'
import { redisKeys } from './redis-keys.ts'

/** KEYS: feeds. Returns the newest place of each, or nothing. */
const endsScript = `
local ends = {}
for i, key in ipairs(KEYS) do ends[i] = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2] or '' end
return ends
`

const feeds = [redisKeys.feed, redisKeys.cutoffs, redisKeys.clientFeed] as const

export const createFeeds = (connection: RedisConnection): FeedStore =>
  connection instanceof Cluster ? askEach(connection) : askTogether(connection)

const askTogether = (connection: RedisConnection): FeedStore => {
  const ask = defineScript(connection, 'sidegateFeedEnds', feeds.length, endsScript)
  return { ends: async () => toEnds((await ask(...feeds)) as readonly string[]) }
}

/**
 * In a Cluster each feed is in a slot of its own, and one may be unavailable while the others answer. Its end then
 * differs each time, so that its reader calls `since` and gets the error. If all are unavailable, this call fails.
 */
const askEach = (connection: RedisConnection): FeedStore => {
  const ask = defineScript(connection, 'sidegateFeedEnd', 1, endsScript)
  let timesAway = 0
  const endOf = (answer: PromiseSettledResult<unknown>): string =>
    answer.status === 'fulfilled' ? String(answer.value) : `away ${++timesAway}`
  return {
    ends: async () => {
      const asked = feeds.map(feed => ask(feed))
      const answers = await Promise.allSettled(asked)
      if (answers.every(({ status }) => status === 'rejected')) await asked[0]
      return toEnds(answers.map(endOf))
    },
  }
}

const toEnds = ([revocations = '', cutoffs = '', clients = '']: readonly string[]): FeedEnds => ({
  revocations,
  cutoffs,
  clients,
})
