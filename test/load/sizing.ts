/**
 * Calculates cores, pods, memory and Redis for a load from measured figures. Prints the table of the operations page.
 * An option replaces a figure by a measurement of your own: `npx node test/load/sizing.ts --forwarded 20000 --tokens
 * 12000`.
 */
import { parseArgs } from 'node:util'
import { type Figures, measured } from './sizing/figures.ts'
import { toSizingTable } from './sizing/table.ts'

const main = (): void => console.log(toSizingTable(readFigures()))

/** @throws TypeError for a figure that is not one */
const readFigures = (): Figures => {
  const names = Object.keys(measured)
  const options = Object.fromEntries(names.map(name => [name, { type: 'string' }] as const))
  const { values } = parseArgs({ options })
  return {
    ...measured,
    ...Object.fromEntries(Object.entries(values).map(([name, text]) => [name, toFigure(name, text)])),
  }
}

const toFigure = (name: string, text: unknown): number => {
  const figure = Number(text)
  if (!(figure > 0)) throw new TypeError(`--${name} takes a number above 0, not ${text}`)
  return figure
}

main()
