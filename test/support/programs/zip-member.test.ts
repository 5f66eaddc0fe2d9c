import t from 'tap'
import { readZipMember } from './zip-member.ts'

/** Made by Info-ZIP 3.0: a folder, a stored text, and 200 lines that are deflated. */
const archive = Buffer.from(
  [
    'UEsDBAoAAAAAACqadl0AAAAAAAAAAAAAAAACABwAZC9VVAkAA78/A2vhPwNrdXgLAAEEAAAAAAQAAAAAUEsDBBQAAAAIACqadl1hN82zDwAAAO',
    'gDAAAKABwAZC9kZWZsYXRlZFVUCQADvz8Da78/A2t1eAsAAQQAAAAABAAAAADLycxL5coZJUaJUWI4EwBQSwMECgAAAAAAKpp2XYamEDYFAAAA',
    'BQAAAAgAHABkL3N0b3JlZFVUCQADvz8Da78/A2t1eAsAAQQAAAAABAAAAABoZWxsb1BLAQIeAwoAAAAAACqadl0AAAAAAAAAAAAAAAACABgAAA',
    'AAAAAAEADtQQAAAABkL1VUBQADvz8Da3V4CwABBAAAAAAEAAAAAFBLAQIeAxQAAAAIACqadl1hN82zDwAAAOgDAAAKABgAAAAAAAEAAACkgTwA',
    'AABkL2RlZmxhdGVkVVQFAAO/PwNrdXgLAAEEAAAAAAQAAAAAUEsBAh4DCgAAAAAAKpp2XYamEDYFAAAABQAAAAgAGAAAAAAAAQAAAKSBjwAAAG',
    'Qvc3RvcmVkVVQFAAO/PwNrdXgLAAEEAAAAAAQAAAAAUEsFBgAAAAADAAMA5gAAANYAAAAAAA==',
  ].join(''),
  'base64',
)

t.test('a stored and a deflated member are read', async t => {
  t.equal(readZipMember(archive, 'd/stored').toString(), 'hello')
  t.equal(readZipMember(archive, 'd/deflated').toString(), 'line\n'.repeat(200))
})

t.test('a member that is missing, and a file that is no archive, are errors', async t => {
  t.throws(() => readZipMember(archive, 'd/other'), { message: 'the archive has no member d/other' })
  t.throws(() => readZipMember(Buffer.from('hello'), 'd/stored'), { message: 'the archive has no central directory' })
})
