import type { Test } from 'tap'
import { problemsOf } from './support.ts'

/** One requirement: a configuration that does not meet it, and a similar one that is accepted. */
export interface Case {
  readonly says: string
  readonly refused: unknown
  /** The one problem that `refused` has. */
  readonly message: RegExp
  readonly accepted: unknown
}

/** A test for each case. */
export const holdsEach = (t: Test, cases: readonly Case[]): void => {
  for (const { says, refused, message, accepted } of cases) {
    t.test(says, async t => {
      const problems = await problemsOf(t, refused)

      t.equal(problems.length, 1, `one problem: ${problems.join()}`)
      t.match(problems[0], message)
      t.same(await problemsOf(t, accepted), [], 'its neighbour is accepted')
    })
  }
}
