/** The workflows in .github run the project's own script with the least permissions. No network is used. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'

const folder = join(import.meta.dirname, '../../.github/workflows')

const permissions = z.record(z.string(), z.enum(['read', 'write']))
const step = z.object({ uses: z.string().optional(), run: z.string().optional() })
const workflow = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions,
  jobs: z.record(z.string(), z.object({ needs: z.string().optional(), permissions, steps: z.array(step) })),
})

const files = readdirSync(folder).sort()

const read = (file: string) => workflow.parse(parse(readFileSync(join(folder, file), 'utf8')))

t.same(files, ['ci.yml', 'release.yml'])

t.test('every push to main and every pull request runs .ci/run', async t => {
  const { on, jobs } = read('ci.yml')

  t.same(Object.keys(on).sort(), ['pull_request', 'push'])
  t.ok(Object.values(jobs).some(({ steps }) => steps.some(({ run }) => run === '.ci/run')))
})

t.test('a release builds nothing before .ci/run has passed', async t => {
  const { jobs } = read('release.yml')

  t.ok(jobs.check?.steps.some(({ run }) => run === '.ci/run'))
  t.same(
    Object.entries(jobs).filter(([name, { needs }]) => name !== 'check' && needs !== 'check'),
    [],
  )
})

for (const file of files) {
  t.test(`${file} pins every action to an exact version or a digest`, async t => {
    const actions = Object.values(read(file).jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []))

    t.ok(actions.length > 0, 'there are actions')
    t.same(
      actions.filter(action => !/@(?:v\d+\.\d+\.\d+|[0-9a-f]{40})$/.test(action)),
      [],
    )
  })

  t.test(`${file} has no permission for the whole workflow, and only a release may write`, async t => {
    const { permissions: shared, jobs } = read(file)

    t.same(shared, {})
    const writing = Object.entries(jobs).filter(([, { permissions }]) => Object.values(permissions).includes('write'))
    t.same(
      writing.map(([name]) => name),
      file === 'release.yml' ? ['package', 'image'] : [],
    )
  })
}
