import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import t from 'tap'
import { countLines, demoConfig, sidegate } from './run.ts'

const badUsages: readonly (readonly [says: string, args: readonly string[], message: RegExp])[] = [
  ['no command', [], /a command is missing/],
  ['an unknown command', ['srve'], /there is no such command/],
  ['a misspelt command', ['clinet', 'list', '--json'], /no such command; did you mean client list\?/],
  ['an incomplete command', ['client'], /there is no such command/],
  ['an unknown option', ['check', '--confg', demoConfig], /Unknown option '--confg'/],
  ['an option without its value', ['check', '--config'], /--config/],
  [
    'a configuration without --config',
    ['check', demoConfig],
    /extra argument, which belongs to no option such as --config/,
  ],
  ['no configuration', ['check'], /name the configuration with --config FILE or SIDEGATE_CONFIG/],
  ['no configuration to serve', ['serve'], /name the configuration with --config FILE or SIDEGATE_CONFIG/],
  [
    'a rule that does not exist',
    ['check', '--strict', '--allow', 'admin', '--config', demoConfig],
    /--allow takes one of plain-secret/,
  ],
  ['a grace period without --strict', ['check', '--grace', '30s', '--config', demoConfig], /--grace is for --strict/],
  ['a client without id', ['client', 'new', '--grant', 'client_credentials'], /needs --id/],
  [
    'two grants behind one option',
    ['client', 'new', '--id', 'shop', '--grant', 'authorization_code', 'refresh_token'],
    /no option takes "refresh_token"; repeat the option for each value/,
  ],
  [
    'a value like an option',
    ['client', 'new', '--id', '- x'],
    /what follows --id begins with a dash; if it is its value, write --id=VALUE/,
  ],
  [
    'a subject with a line break',
    ['tokens', 'revoke', '--subject', 'a\nrevoked: b', '--config', demoConfig],
    /--subject is 1 to 512 characters of printable ASCII/,
  ],
  [
    'a client id that is too long',
    ['tokens', 'revoke', '--client', 'x'.repeat(513), '--config', demoConfig],
    /--client is 1 to 512 characters/,
  ],
  [
    'a client id to delete that is too long',
    ['client', 'delete', 'x'.repeat(513), '--config', demoConfig],
    /CLIENT_ID is 1 to 512/,
  ],
  ['a client without grant', ['client', 'new', '--id', 'shop'], /needs --grant/],
]

for (const [says, args, message] of badUsages) {
  t.test(`${says} is bad usage: one line and exit code 2`, async t => {
    const { code, stdout, stderr } = await sidegate(args)

    t.equal(code, 2)
    t.equal(stdout, '')
    t.match(stderr, /^sidegate: /)
    t.match(stderr, message)
    t.equal(countLines(stderr), 1)
  })
}

t.test('an extra argument is not repeated, because it may be a secret', async t => {
  const { code, stderr } = await sidegate(['hash', 'hunter2'])

  t.equal(code, 2)
  t.match(stderr, /an extra argument/)
  t.notMatch(stderr, /hunter2/)
})

t.test('--help names the exit codes and every command except those that only Sidegate itself runs', async t => {
  const { code, stdout } = await sidegate(['--help'])

  t.equal(code, 0)
  for (const name of ['serve', 'start', 'check', 'routes', 'client new', 'hash', 'schema', 'version']) {
    t.match(stdout, new RegExp(`^  sidegate ${name}\\b`, 'm'))
  }
  t.notMatch(stdout, /sidegate worker/)
  t.match(stdout, /Exit codes: 0 .* 1 .* 2 /)
})

t.test('the version is that of the package', async t => {
  const { code, stdout } = await sidegate(['--version'])

  t.equal(code, 0)
  t.match(stdout, /^sidegate \d+\.\d+\.\d+, node \d+\.\d+\.\d+\n$/)
})

const systemNode = '/usr/bin/node'
const systemMajor = existsSync(systemNode)
  ? Number(execFileSync(systemNode, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }))
  : undefined

if (systemMajor !== undefined && systemMajor < 24) {
  t.test('on a Node version that is too old, sidegate prints one line', async t => {
    const { code, stdout, stderr } = await sidegate(['check', '--config', demoConfig], { node: systemNode })

    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(stderr, new RegExp(`^sidegate: needs Node 24 or newer, this is v${systemMajor}\\.`))
    t.equal(countLines(stderr), 1)
  })
}
