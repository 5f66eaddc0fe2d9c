/** The files, scripts and commands of docs/operations exist. No container engine and no cluster runs here. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sidegate } from '../cli/run.ts'
import { codeOf, type Page, readPages, root, withoutBlocks } from './markdown.ts'

const pages = readPages('docs/operations')

t.test('every script of the pages about operations is valid bash', async t => {
  const scripts = pages
    .flatMap(({ blocks }) => blocks)
    .filter(({ language }) => language === '')
    .map(({ text }) => text)

  t.ok(scripts.length > 5, 'there are scripts')
  for (const script of scripts) {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })
    t.equal(status, 0, script, { stderr })
  }
})

t.test('every file that the pages about operations name by its end is below deploy', async t => {
  const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' }).map(path => `/deploy/${path}`)
  const named = pages
    .flatMap(({ text }) => codeOf(withoutBlocks(text)))
    .filter(span => /^[\w./-]+\.(?:yaml|json|ts)$/.test(span))

  t.ok(named.length > 10, 'it names files')
  t.same(
    named.filter(name => !files.some(file => file.endsWith(`/${name}`))),
    [],
  )
})

/** The words after each name of the program: in the image, in a pod, in a shell or in a sentence. */
const shownCommands = ({ text }: Page): readonly string[] =>
  [
    ...text
      .replaceAll('\\\n', '')
      .matchAll(/(?:sidegate:\d[\d.]+ +|sidegate\.cjs |^sidegate |(?<=`)sidegate )([a-z][a-z-]*(?![\w./])[^`#\n]*)/gm),
  ].map(([, command = '']) => command.trim())

const optionsIn = (text: string): readonly string[] => text.match(/--[a-z-]+/g) ?? []

t.test('the pages about operations show the commands and their options as the help has them', async t => {
  const { stdout } = await sidegate(['--help'])
  const synopses = [...stdout.matchAll(/^ {2}sidegate ([a-z-]+(?: [a-z][a-z-]*)?)(.*)$/gm)]
  const isKnown = (command: string): boolean => {
    const [, name = '', takes = ''] = synopses.find(([, name]) => `${command} `.startsWith(`${name} `)) ?? []
    return name !== '' && optionsIn(command).every(option => optionsIn(takes).includes(option))
  }
  const commands = pages.flatMap(shownCommands)

  t.ok(commands.length > 10, 'there are commands')
  t.same(
    commands.filter(command => !isKnown(command)),
    [],
  )
})
