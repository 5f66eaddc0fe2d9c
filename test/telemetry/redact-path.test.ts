import t from 'tap'
import { redactPath } from '../../src/telemetry/redact-path.ts'

t.test('a plain path is shown unchanged', async t => {
  for (const path of ['/', '/a/b', '/a%20b', '/3f', '/%C3%3', `/${'x'.repeat(1023)}`, ''])
    t.equal(redactPath(path), path)
})

t.test('the part after an encoded query or fragment delimiter is removed, however often it was encoded', async t => {
  for (const mark of ['%3F', '%3f', '%253F', '%25253f', '%23', '%2523']) {
    t.equal(redactPath(`/a%20b${mark}client_secret=s3cret`), '/a%20b…', mark)
  }
})

t.test('a path that is too long for a log line is cut', async t => {
  t.equal(redactPath(`/${'x'.repeat(1024)}`), `/${'x'.repeat(1023)}…`)
  t.equal(redactPath(`/${'x'.repeat(1023)}%3F`), `/${'x'.repeat(1023)}…`)
})
