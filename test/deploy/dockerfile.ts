import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const file = join(import.meta.dirname, '../../deploy/Dockerfile')

export interface Instruction {
  /** In capitals: `FROM`, `COPY`, … */
  readonly name: string
  /** Flags and arguments as written, on one line. */
  readonly text: string
}

export interface Stage {
  readonly name: string
  readonly image: string
  readonly instructions: readonly Instruction[]
}

/** The stages of deploy/Dockerfile in their order, comments left out and continued lines joined. */
export const readStages = (): readonly Stage[] => {
  const stages: { name: string; image: string; instructions: Instruction[] }[] = []
  for (const { name, text } of readInstructions()) {
    const [image = '', , stage = ''] = text.split(/\s+/)
    if (name === 'FROM') stages.push({ name: stage, image, instructions: [] })
    else stages.at(-1)?.instructions.push({ name, text })
  }
  return stages
}

const readInstructions = (): readonly Instruction[] =>
  readFileSync(file, 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => {
      const [name = '', ...rest] = line.split(' ')
      return { name, text: rest.join(' ') }
    })

/** The words of an exec form (`["npm", "ci"]`), which needs no shell. Throws on the shell form. */
export const toExecForm = (text: string): readonly string[] => {
  const words: unknown = JSON.parse(text.slice(text.indexOf('[')))
  if (!Array.isArray(words) || !words.every(word => typeof word === 'string')) throw new TypeError(`not exec: ${text}`)
  return words
}
