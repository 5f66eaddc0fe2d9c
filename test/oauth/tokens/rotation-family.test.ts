import t from 'tap'
import { createRotationFamily } from '../../../src/oauth/tokens/rotation-family.ts'
import { startServer } from '../support/authorization-server.ts'

const token = `${'g'.repeat(22)}.${'t'.repeat(43)}`

t.test('a successor of a token differs from a token of another family', async t => {
  const { keys } = (await startServer(t)).deps
  const lineage = createRotationFamily(keys)
  const current = keys.digest(lineage.successorOf(lineage.successorOf(token)))

  t.equal(lineage.isAncestor(token, current, 2), true)
  t.equal(lineage.isAncestor(token, current, 1), false, 'not within this number of rotations')
  t.equal(lineage.isAncestor(`${token.slice(0, -1)}x`, current, 2), false)
})

t.test('a malformed token costs little, however often its grant has rotated', async t => {
  const { keys } = (await startServer(t)).deps
  let digests = 0
  const digest = (text: string): string => {
    digests += 1
    return keys.digest(text)
  }

  const isAncestor = createRotationFamily({ ...keys, digest }).isAncestor(token, 'another', 1_000_000)

  t.equal(isAncestor, false)
  t.ok(digests <= 2000, `${digests} digests`)
})
