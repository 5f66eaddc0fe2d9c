/** One attack, as a program: `node attacker.ts NAME ORIGIN`. Says over its channel when it is in full swing. */
import { getPriority, setPriority } from 'node:os'
import { attacks } from './attacks.ts'

/** What it takes of the core that it shares must not look like a slow gateway. */
const nicer = 15

const [name = '', origin = ''] = process.argv.slice(2)
const { hostname, port } = new URL(origin)
setPriority(Math.min(19, getPriority() + nicer))
process.once('disconnect', () => process.exit())
await attacks[name]?.begin({ host: hostname, port: Number(port) })
process.send?.('begun')
