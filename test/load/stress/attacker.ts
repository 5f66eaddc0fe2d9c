/** One attack, as a program: `node attacker.ts NAME ORIGIN`. Says over its channel when it is in full swing. */
import { attacks } from './attacks.ts'

const [name = '', origin = ''] = process.argv.slice(2)
const { hostname, port } = new URL(origin)
process.once('disconnect', () => process.exit())
await attacks[name]?.begin({ host: hostname, port: Number(port) })
process.send?.('begun')
