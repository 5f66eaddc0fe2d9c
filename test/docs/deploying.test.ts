/** What deploy/README.md and deploy/operations.md name and show is there. No container engine and no cluster runs here. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sidegate } from '../cli/run.ts'
import { codeOf, type Page, readPage, root, withoutBlocks } from './markdown.ts'

const deploying = readPage('deploy/README.md')

t.test('every script of the page about deploying is good bash', async t => {
  const scripts = deploying.blocks.filter(({ language }) => language === '').map(({ text }) => text)

  t.ok(scripts.length > 5, 'there are scripts')
  for (const script of scripts) {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })
    t.equal(status, 0, script, { stderr })
  }
})

t.test('every file that the page about deploying names by its end is one below deploy', async t => {
  const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' }).map(path => `/deploy/${path}`)
  const named = codeOf(withoutBlocks(deploying.text)).filter(span => /^[\w./-]+\.(?:yaml|json|ts)$/.test(span))

  t.ok(named.length > 10, 'it names files')
  t.same(
    named.filter(name => !files.some(file => file.endsWith(`/${name}`))),
    [],
  )
})

/** What stands behind the program's name, by whatever name it goes: in the image, in a pod, in a shell or in a sentence. */
const shownCommands = ({ text }: Page): readonly string[] =>
  [
    ...text
      .replaceAll('\\\n', '')
      .matchAll(/(?:sidegate:\d[\d.]+ +|sidegate\.cjs |^sidegate |(?<=`)sidegate )([a-z][a-z-]*(?![\w./])[^`#\n]*)/gm),
  ].map(([, command = '']) => command.trim())

const optionsIn = (text: string): readonly string[] => text.match(/--[a-z-]+/g) ?? []

t.test('the pages about operating Sidegate show its commands and their options as the help has them', async t => {
  const { stdout } = await sidegate(['--help'])
  const synopses = [...stdout.matchAll(/^ {2}sidegate ([a-z-]+(?: [a-z][a-z-]*)?)(.*)$/gm)]
  const isKnown = (command: string): boolean => {
    const [, name = '', takes = ''] = synopses.find(([, name]) => `${command} `.startsWith(`${name} `)) ?? []
    return name !== '' && optionsIn(command).every(option => optionsIn(takes).includes(option))
  }
  const commands = ['deploy/README.md', 'deploy/operations.md'].map(readPage).flatMap(shownCommands)

  t.ok(commands.length > 10, 'there are commands')
  t.same(
    commands.filter(command => !isKnown(command)),
    [],
  )
})
