import type { Clock } from '../../clock.ts'
import type { SubjectStore } from '../ports/subjects.ts'
import { answered, defineScript, type RedisConnection } from './connection.ts'
import { redisKeys, ttlMs } from './redis-keys.ts'

/** KEYS: the subject. ARGV: its lifetime in milliseconds, which never becomes shorter. */
const rememberScript = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], '', 'PX', ARGV[1]) end
return 1
`

export const createSubjects = (connection: RedisConnection, clock: Clock): SubjectStore => {
  const remember = defineScript(connection, 'sidegateSubject', 1, rememberScript)
  return {
    remember: async (digest, untilMs) => {
      await remember(redisKeys.subject(digest), ttlMs(clock, untilMs))
    },
    has: async digest => (await answered(connection.exists(redisKeys.subject(digest)))) === 1,
  }
}
