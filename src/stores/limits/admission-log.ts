import type { Charge } from '../ports/limiter.ts'
import type { Admission } from './counters.ts'

/** Told of each entry, oldest first. */
export type AdmissionLogReader = (charge: Charge, admitted: Admission, atMicros: number) => void

/**
 * Admissions that hardly anybody ever asks for, of the last `spanMicros` at least and twice that at most: written down one
 * after another, which takes a tenth of the time of the counters of thousands of clients, each somewhere else in memory.
 */
export class AdmissionLog {
  readonly #spanMicros: number
  #older = new Page()
  #newer = new Page()

  constructor(spanMicros: number) {
    this.#spanMicros = spanMicros
  }

  /** Instants do not go back. */
  write(charge: Charge, admitted: Admission, atMicros: number): void {
    if (this.#newer.isOver(atMicros - this.#spanMicros)) this.#turn()
    this.#newer.write(charge, admitted, atMicros)
  }

  /** Leaves it empty. */
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

/** Columns in place of objects: an object that lives for a second outlives every collection of young ones. */
class Page {
  readonly #charges: Charge[] = []
  readonly #granted: number[] = []
  readonly #grantedSoftly: number[] = []
  readonly #atMicros: number[] = []
  /** The columns are longer: what a page held before is written over. */
  #length = 0

  /** Whether it was begun by then. */
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
