import { Redis } from 'ioredis'
import { createIssuer } from './issuer.ts'
import { clients, type LuaGateway, narrowLimit, neededScope } from './lua-gateway.ts'

/**
 * Throws if nginx does not do the work of its row, because a row that lets every caller in would be fast.
 *
 * @param redis the URL of the Redis that counts
 */
export const verifyPolicy = async (gateway: LuaGateway, redis: string): Promise<void> => {
  const { issuer } = gateway
  const narrow = claimsOf(clients.narrow)
  await expect(gateway, 'without a token', undefined, 401)
  await expect(gateway, 'with a token of another issuer', createIssuer().issue(narrow), 401)
  await expect(gateway, 'with an expired token', issuer.issue({ ...narrow, exp: 1 }), 401)
  await expect(gateway, 'with a token for others', issuer.issue({ ...narrow, aud: 'others' }), 401)
  await expect(gateway, 'with another scope', issuer.issue({ ...narrow, scope: 'accounts:write' }), 403)
  await expectCount(redis, 0)
  const token = issuer.issue(narrow)
  for (let nth = 1; nth <= narrowLimit; nth++) {
    await expect(gateway, 'within the plan', token, 200)
    await expectCount(redis, nth)
  }
  await expect(gateway, 'over the plan', token, 429)
  await expectCount(redis, narrowLimit)
  await expect(gateway, 'by the client under load', tokenOfLoad(gateway), 200)
}

/** The token of every request of the load. */
export const tokenOfLoad = ({ issuer }: LuaGateway): string => issuer.issue(claimsOf(clients.loaded))

const claimsOf = (client_id: string) => ({ sub: client_id, client_id, scope: neededScope })

const expect = async (
  { origin }: LuaGateway,
  what: string,
  token: string | undefined,
  expected: 200 | 401 | 403 | 429,
): Promise<void> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(`${origin}/guarded/1`, { headers })
  const text = await response.text()
  if (response.status !== expected) throw wrong(`${what} the status was ${response.status}, not ${expected}`)
  if (expected !== 200) return
  if (!text.includes('"balance"')) throw wrong(`${what} the answer was not the upstream's: ${text}`)
  if (!response.headers.has('ratelimit')) throw wrong(`${what} the answer did not say what is left of the plan`)
}

/** How many requests of the client with the narrow plan were counted, in whatever window. */
const expectCount = async (url: string, expected: number): Promise<void> => {
  const redis = new Redis(url)
  try {
    const keys = await redis.keys(`plan:${clients.narrow}:*`)
    const counts = await Promise.all(keys.map(key => redis.get(key)))
    const count = counts.reduce((sum, text) => sum + Number(text), 0)
    if (count !== expected) throw wrong(`Redis counted ${count} requests, not ${expected}`)
  } finally {
    redis.disconnect()
  }
}

const wrong = (sentence: string): Error => new Error(`nginx with Lua is no gateway to compare with: ${sentence}`)
