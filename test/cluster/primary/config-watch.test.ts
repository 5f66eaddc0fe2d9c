import t from 'tap'
import { watchConfig } from '../../../src/cluster/primary/config-watch.ts'
import { eventually } from '../../support/eventually.ts'

/** Files whose content a test sets, and a watch that polls them. */
const startWatch = (t: { teardown(handler: () => unknown): unknown }) => {
  const files = { loaded: 'a', contents: ['a'], looks: 0 }
  const reloaded: string[] = []
  const source = {
    loaded: () => files.loaded,
    current: async () => {
      files.looks++
      return files.contents[files.looks % files.contents.length] ?? ''
    },
  }
  const onChange = async (): Promise<void> => {
    files.loaded = files.contents[0] ?? ''
    reloaded.push(files.loaded)
  }
  const watch = watchConfig(source, onChange, 1)
  t.teardown(watch.close)
  const seeLooks = async (count: number): Promise<void> => {
    const before = files.looks
    await eventually(() => files.looks > before + count)
  }
  return { files, reloaded, watch, seeLooks }
}

t.test('new content triggers one reload', async t => {
  const { files, reloaded, seeLooks } = startWatch(t)
  await seeLooks(3)
  t.same(reloaded, [])

  files.contents = ['b']
  await seeLooks(5)

  t.same(reloaded, ['b'])
})

t.test('a file that is being written is not reloaded until two polls read the same content', async t => {
  const { files, reloaded, seeLooks } = startWatch(t)

  files.contents = ['b', 'bc']
  await seeLooks(10)
  t.same(reloaded, [])
  files.contents = ['bcd']
  await seeLooks(3)

  t.same(reloaded, ['bcd'])
})

t.test('the watch does not read any file after it is closed', async t => {
  const { files, reloaded, watch, seeLooks } = startWatch(t)
  await seeLooks(1)

  watch.close()
  files.contents = ['b']
  const looks = files.looks
  await new Promise(resolve => setTimeout(resolve, 20))

  t.ok(files.looks <= looks + 1)
  t.same(reloaded, [])
})
