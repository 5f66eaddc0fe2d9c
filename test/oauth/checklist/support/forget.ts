import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Section } from './each-store.ts'

/** Removes an interaction from the store, as its expiry does. */
export const forgetInteraction = async ({ redis, gateway }: Section, id: string): Promise<void> => {
  if (redis) {
    await redis.client.del(`sidegate:interaction:${id}`)
    return
  }
  const database = new DatabaseSync(join(gateway.dir, 'sidegate.db'), { timeout: 5000 })
  database.prepare('DELETE FROM interactions WHERE id = ?').run(id)
  database.close()
}
