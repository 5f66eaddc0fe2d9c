import type { Charge } from '../ports/limiter.ts'
import type { Admission } from './counters.ts'

/** Called with each entry, oldest first. */
export type AdmissionLogReader = (charge: Charge, admitted: Admission, atMicros: number) => void

/**
 * A log of admissions that are rarely read: those of at least the last `spanMicros` and at most twice that time. They
 * are written one after another, which takes a tenth of the time of updating the counters of thousands of clients,
 * which lie apart in memory.
 */
export class AdmissionLog {
  readonly #spanMicros: number
  #older = new Page()
  #newer = new Page()

  constructor(spanMicros: number) {
    this.#spanMicros = spanMicros
  }

  /** `atMicros` never decreases. */
  write(charge: Charge, admitted: Admission, atMicros: number): void {
    if (this.#newer.isOver(atMicros - this.#spanMicros)) this.#turn()
    this.#newer.write(charge, admitted, atMicros)
  }

  /** Hands over every entry and leaves the log empty. */
  moveTo(reader: AdmissionLogReader): void {
    this.#older.moveTo(reader)
    this.#newer.moveTo(reader)
  }

  #turn(): void {
    const used = this.#older
    used.clear()
    this.#older = this.#newer
    this.#newer = used
  }
}

/** Columns instead of objects, because objects that live for a second survive every minor collection. */
class Page {
  readonly #charges: Charge[] = []
  readonly #granted: number[] = []
  readonly #grantedSoftly: number[] = []
  readonly #atMicros: number[] = []
  /** The arrays may be longer, because entries of an earlier use of the page are overwritten. */
  #length = 0

  /** Whether its first entry was written at `micros` or before. */
  isOver(micros: number): boolean {
    return this.#length > 0 && (this.#atMicros[0] ?? 0) <= micros
  }

  write(charge: Charge, { granted, grantedSoftly }: Admission, atMicros: number): void {
    const at = this.#length++
    this.#charges[at] = charge
    this.#granted[at] = granted
    this.#grantedSoftly[at] = grantedSoftly
    this.#atMicros[at] = atMicros
  }

  moveTo(reader: AdmissionLogReader): void {
    for (let at = 0; at < this.#length; at++) {
      const admitted = { granted: this.#granted[at] ?? 0, grantedSoftly: this.#grantedSoftly[at] ?? 0 }
      reader(this.#charges[at] as Charge, admitted, this.#atMicros[at] ?? 0)
    }
    this.clear()
  }

  clear(): void {
    this.#length = 0
  }
}
