import t from 'tap'
import { AdmissionLog } from '../../../src/stores/limits/admission-log.ts'
import { newCharge } from '../../support/charges.ts'

const spanMicros = 1000

const one = { granted: 1, grantedSoftly: 1 }

/** The instants of the entries, which are read and removed. */
const instantsIn = (journal: AdmissionLog): readonly number[] => {
  const instants: number[] = []
  journal.moveTo((_charge, _admitted, atMicros) => instants.push(atMicros))
  return instants
}

t.test('a reader gets every entry, the oldest first', async t => {
  const journal = new AdmissionLog(spanMicros)
  const [first, second] = [newCharge(1), newCharge(2)]
  const read: unknown[] = []
  journal.write(first, { granted: 3, grantedSoftly: 2 }, 10)
  journal.write(second, one, 20)

  journal.moveTo((charge, admitted, atMicros) => read.push([charge, admitted, atMicros]))

  t.strictSame(read, [
    [first, { granted: 3, grantedSoftly: 2 }, 10],
    [second, one, 20],
  ])
})

t.test('an entry that was read is removed', async t => {
  const journal = new AdmissionLog(spanMicros)
  journal.write(newCharge(1), one, 10)
  instantsIn(journal)
  journal.write(newCharge(1), one, 20)

  t.strictSame(instantsIn(journal), [20])
})

t.test('every entry of the last span is kept, and no entry older than twice the span', async t => {
  const journal = new AdmissionLog(spanMicros)
  const charge = newCharge(1)
  for (let atMicros = 1; atMicros <= 10_500; atMicros++) {
    journal.write(charge, one, atMicros)
  }

  const instants = instantsIn(journal)

  t.equal(instants.at(-1), 10_500)
  t.ok((instants[0] ?? 0) <= 10_500 - spanMicros + 1, `the oldest is of ${instants[0]}`)
  t.ok((instants[0] ?? 0) > 10_500 - 2 * spanMicros - 1, `the oldest is of ${instants[0]}`)
  t.equal(instants.length, 10_500 - (instants[0] ?? 0) + 1, 'no entry is missing between')
})

t.test('after two pauses the entries before them are dropped', async t => {
  const journal = new AdmissionLog(spanMicros)
  journal.write(newCharge(1), one, 10)
  journal.write(newCharge(1), one, 100_000)
  journal.write(newCharge(1), one, 200_000)

  t.strictSame(instantsIn(journal), [100_000, 200_000])
})
