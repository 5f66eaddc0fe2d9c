/** `node fill-disk.ts FILE`: saves tokens until the store refuses one, then looks up every acknowledged token. */
import { systemClock } from '../../src/clock.ts'
import { openSqliteStore } from '../../src/stores/sqlite.ts'
import { newToken } from './records.ts'

const store = await openSqliteStore(process.argv[2] ?? '', systemClock)
const untilMs = Date.now() + 600_000
let acknowledged = 0
let error: unknown
while (error === undefined && acknowledged < 100_000) {
  try {
    await store.tokens.save('grant', `digest ${acknowledged}`, newToken('grant'), untilMs)
    acknowledged++
  } catch (reason) {
    error = reason
  }
}
let found = 0
for (let i = 0; i < acknowledged; i++) if (await store.tokens.find('grant', `digest ${i}`)) found++
console.log(JSON.stringify({ acknowledged, found, error: error instanceof Error && error.name }))
