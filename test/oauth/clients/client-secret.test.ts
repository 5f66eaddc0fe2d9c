import t, { type Test } from 'tap'
import type { ClientSecret } from '../../../src/oauth/clients/metadata.ts'
import { hashGeneratedSecret, hashSecret, verifySecretHash } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import { basic, client, createManualClock, startServer } from '../support/authorization-server.ts'

const plain = (text: string, untilMs?: number): ClientSecret => ({
  kind: 'plain',
  value: new Secret(text),
  ...(untilMs !== undefined && { untilMs }),
})

const stored = (hash: string, untilMs?: number): ClientSecret => ({ ...plain(hash, untilMs), kind: 'hash' })

/** The result of a secret that `rotating` presents while it has these secrets, at the clock's time. */
const startRotation = async (t: Test, secrets: (endMs: number) => readonly ClientSecret[]) => {
  const clock = createManualClock()
  const clients = [client('rotating', { secrets: secrets(clock.nowMs() + 60_000) }), client('app')]
  const { token } = await startServer(t, { clients }, clock)
  const present = async (secret: string): Promise<number> => {
    const request = { authorization: [basic('rotating', secret)] }
    return (await token({ grant_type: 'client_credentials' }, { request })).status
  }
  return { clock, present }
}

const slowOld = await hashSecret(new Secret('old'))
const slowNew = await hashSecret(new Secret('new'))

const kinds: Readonly<Record<string, (endMs: number) => readonly ClientSecret[]>> = {
  plain: endMs => [plain('new'), plain('old', endMs)],
  generated: endMs => [
    stored(hashGeneratedSecret(new Secret('new'))),
    stored(hashGeneratedSecret(new Secret('old')), endMs),
  ],
  chosen: endMs => [stored(slowNew), stored(slowOld, endMs)],
  mixed: endMs => [stored(slowNew), plain('old', endMs)],
}

for (const [kind, secrets] of Object.entries(kinds)) {
  t.test(
    `old and new secret both work until the overlap ends, then only the new one (${kind}) (checklist 25)`,
    async t => {
      const { clock, present } = await startRotation(t, secrets)

      t.equal(await present('new'), 200)
      t.equal(await present('old'), 200)
      t.equal(await present('older'), 401)

      clock.advanceSec(59.999)
      t.equal(await present('old'), 200, 'until the last millisecond')
      clock.advanceSec(0.001)
      t.equal(await present('old'), 401, 'and not after it')
      t.equal(await present('new'), 200)
    },
  )
}

t.test('a secret that ended before the start is never accepted (checklist 25)', async t => {
  const { present } = await startRotation(t, endMs => [plain('new'), plain('old', endMs - 60_000)])

  t.equal(await present('old'), 401)
  t.equal(await present('new'), 200)
})

/** The CPU time of an attempt in this process, all threads together; the least of three. */
const leastCpuMicros = async (attempt: (i: number) => unknown): Promise<number> => {
  const spent: number[] = []
  for (const i of [1, 2, 3]) {
    const before = process.cpuUsage()
    await attempt(i)
    const { user, system } = process.cpuUsage(before)
    spent.push(user + system)
  }
  return Math.min(...spent)
}

t.test(
  'if one client has two slow secrets, every failure costs two slow hashes (RFC 6749 section 10.10; checklist 18)',
  async t => {
    const clock = createManualClock()
    const clients = [client('rotating', { secrets: [stored(slowNew), stored(slowOld)] }), client('app')]
    const { token } = await startServer(t, { clients }, clock)
    const value = new Secret(slowNew)
    const oneHash = await leastCpuMicros(i => verifySecretHash(new Secret(`wrong-${i}`), value))

    for (const client_id of ['nobody', 'app', 'rotating']) {
      const spent = await leastCpuMicros(i =>
        token({ grant_type: 'client_credentials' }, { request: { authorization: [basic(client_id, `guess-${i}`)] } }),
      )
      t.ok(spent > oneHash * 1.5, `${client_id} costs two slow hashes (${spent} µs, one hash ${oneHash} µs)`)
    }
  },
)

t.test('each of two slow secrets runs no hash after it was right once', async t => {
  const { present } = await startRotation(t, endMs => [stored(slowNew), stored(slowOld, endMs)])
  const oneHash = await leastCpuMicros(i => verifySecretHash(new Secret(`wrong-${i}`), new Secret(slowNew)))
  await present('old')
  await present('new')

  for (const secret of ['old', 'new']) {
    const spent = await leastCpuMicros(() => present(secret))
    t.ok(spent < oneHash / 2, `${secret} runs no slow hash (${spent} µs, one hash ${oneHash} µs)`)
  }
})

t.test('a plain secret is accepted only as a whole, however long it is', async t => {
  const lengths = [1, 62, 63, 64, 65, 200, 300]

  for (const length of lengths) {
    const secret = `${'s'.repeat(length - 1)}é`
    const { present } = await startRotation(t, () => [plain(secret)])
    t.equal(await present(secret), 200, `${length}`)
    for (const wrong of [
      secret.slice(0, -1),
      `${secret}x`,
      `${secret}\0`,
      `${secret.slice(0, -1)}e`,
      `x${secret.slice(1)}`,
    ]) {
      t.equal(await present(wrong), 401, `${length}: ${JSON.stringify(wrong.slice(-5))}`)
    }
  }
})

t.test('no part of a secret affects the next one', async t => {
  const { present } = await startRotation(t, () => [plain('long-and-right'), plain('l')])

  t.equal(await present('long-and-right'), 200)
  t.equal(await present('long'), 401)
  t.equal(await present('long-and-wrong'), 401)
  t.equal(await present('l'), 200)
  t.equal(await present('long-and-right'), 200)
})
