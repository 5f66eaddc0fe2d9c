import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import { browse } from './browser.ts'
import { areAsShown, type Shell, stepsOf } from './console.ts'
import { type Desk, openDesk } from './desk.ts'
import { type Block, type Page, readPage, sectionOf } from './markdown.ts'

const guide = readPage('src/oauth/guide.md')
const headings = [...guide.text.matchAll(/^## .+$/gm)].map(([heading]) => heading)

/** Somebody who reads the guide pastes this into every terminal. */
const [everyTerminal] = sectionOf(guide, '## Before you begin').blocks

t.test('every block of the guide works as it stands, in its order, and answers as it shows', async t => {
  const desk = await openDesk(t, everyTerminal?.text ?? '')

  t.equal(headings.length, 8)
  for (const heading of headings) await t.test(heading, t => follow(t, sectionOf(guide, heading), desk))
})

const follow = async (t: Test, part: Page, desk: Desk): Promise<void> => {
  for (const block of part.blocks) {
    if (block.language === 'console') {
      await areAsShown(t, stepsOf({ ...part, blocks: [block] }), desk.replacements, { ...desk.shell, ...reader(t) })
    } else {
      t.equal(block.language, 'bash', 'a block is either a script or what a terminal shows')
      await (startsGateway(block) ? desk.serve(block.text) : desk.run(block.text))
    }
  }
}

const startsGateway = ({ text }: Block): boolean => /^sidegate (?:serve|start)\b/m.test(text)

/** Opens the address that the guide's client prints. Where that leads nowhere, nobody waits for the client. */
const reader = (t: Test): Pick<Shell, 'onLine' | 'signal'> => {
  const abort = new AbortController()
  const visit = async (address: string): Promise<void> => {
    try {
      // What the block before has left in the background may still be starting.
      await eventually(() => browse(new URL(address)).then(() => true))
    } catch (error) {
      t.fail(`${address} leads nowhere`, { error })
      abort.abort()
    }
  }
  return {
    signal: abort.signal,
    onLine: line => {
      const address = /^open (http:\S+)$/.exec(line)?.[1]
      if (address !== undefined) void visit(address)
    },
  }
}
