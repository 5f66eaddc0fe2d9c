import t from 'tap'
import { configJsonSchema } from '../../../src/config/load.ts'
import { sidegate } from '../run.ts'

t.test('schema prints the JSON Schema of the configuration', async t => {
  const { code, stdout } = await sidegate(['schema'])

  t.equal(code, 0)
  t.same(JSON.parse(stdout), configJsonSchema())
})
