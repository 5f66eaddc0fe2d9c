import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import { browse } from './browser.ts'
import { areAsShown, type Shell, stepsOf } from './console.ts'
import { type Desk, openDesk } from './desk.ts'
import { type Block, type Page, readPage } from './markdown.ts'

/** In this order: a page may use the files and the gateway of the pages before. */
const pages = [
  'oauth',
  'fapi',
  'custom-login',
  'client-certificates',
  'signing-keys',
  'behind-a-proxy',
  'introspection',
].map(name => readPage(`docs/guides/${name}.md`))

/** A reader of the guides pastes this into every terminal. */
const [everyTerminal] = pages.flatMap(({ blocks }) => blocks)

t.test('every block of the OAuth guides works as it stands, in its order, and the answers are as shown', async t => {
  const desk = await openDesk(t, everyTerminal?.text ?? '')

  for (const page of pages) await t.test(page.path, t => follow(t, page, desk))
})

const follow = async (t: Test, page: Page, desk: Desk): Promise<void> => {
  for (const block of page.blocks) {
    if (block.language === 'console') {
      await areAsShown(t, stepsOf({ ...page, blocks: [block] }), desk.replacements, { ...desk.shell, ...reader(t) })
    } else {
      t.equal(block.language, 'bash', 'a block is either a script or what a terminal shows')
      await (startsGateway(block) ? desk.serve(block.text) : desk.run(block.text))
    }
  }
}

const startsGateway = ({ text }: Block): boolean => /^sidegate (?:serve|start)\b/m.test(text)

/** Opens the address that the client of the guides prints. If that fails, stops the client. */
const reader = (t: Test): Pick<Shell, 'onLine' | 'signal'> => {
  const abort = new AbortController()
  const visit = async (address: string): Promise<void> => {
    try {
      // A program that the previous block started in the background may not be ready yet.
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
