import t, { type Test } from 'tap'
import type { ClientSecret } from '../../../src/oauth/options.ts'
import { hashGeneratedSecret, hashSecret, verifySecretHash } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import { basic, client, createManualClock, startServer } from '../support/authorization-server.ts'

const plain = (text: string, untilMs?: number): ClientSecret => ({
  kind: 'plain',
  value: new Secret(text),
  ...(untilMs !== undefined && { untilMs }),
})

const stored = (hash: string, untilMs?: number): ClientSecret => ({ ...plain(hash, untilMs), kind: 'hash' })

/** What becomes of a secret that `rotating` presents while these are its secrets, at the clock's time. */
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
      t.equal(await present('old'), 200, 'to the last moment')
      clock.advanceSec(0.001)
      t.equal(await present('old'), 401, 'and no moment longer')
      t.equal(await present('new'), 200)
    },
  )
}

t.test('a secret whose end has come before the start never works (checklist 25)', async t => {
  const { present } = await startRotation(t, endMs => [plain('new'), plain('old', endMs - 60_000)])

  t.equal(await present('old'), 401)
  t.equal(await present('new'), 200)
})

/** What an attempt costs this process, all threads together; the least of three. */
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
  'where one client has two slow secrets, every failure costs two (RFC 6749 section 10.10; checklist 18)',
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

t.test('either of two slow secrets costs nothing once it was right', async t => {
  const { present } = await startRotation(t, endMs => [stored(slowNew), stored(slowOld, endMs)])
  const oneHash = await leastCpuMicros(i => verifySecretHash(new Secret(`wrong-${i}`), new Secret(slowNew)))
  await present('old')
  await present('new')

  for (const secret of ['old', 'new']) {
    const spent = await leastCpuMicros(() => present(secret))
    t.ok(spent < oneHash / 2, `${secret} runs no slow hash (${spent} µs, one hash ${oneHash} µs)`)
  }
})

t.test('a plain secret is right in whole alone, however long it is', async t => {
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

t.test('nothing of a secret stays for the next that is presented', async t => {
  const { present } = await startRotation(t, () => [plain('long-and-right'), plain('l')])

  t.equal(await present('long-and-right'), 200)
  t.equal(await present('long'), 401)
  t.equal(await present('long-and-wrong'), 401)
  t.equal(await present('l'), 200)
  t.equal(await present('long-and-right'), 200)
})
