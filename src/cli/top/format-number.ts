import type { Quantile } from './quantile.ts'

/** Formats numbers as texts of at most seven characters; `-` if there is no number. */

/** `0`, `0.4`, `37`, `1.2k`, `15M`. */
export const figure = (value: number): string => {
  if (!Number.isFinite(value)) return '-'
  if (value === 0) return '0'
  if (value < 0) return `-${figure(-value)}`
  if (value < 0.1) return '<0.1'
  const [divisor, unit] = units.find(([least]) => value >= least * 0.9995) ?? [1, '']
  if (value >= 999.5e18) return value.toExponential(0)
  return threeDigits(value / divisor) + unit
}

const units = [
  [1e18, 'E'],
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

const threeDigits = (value: number): string => (value < 9.95 ? String(Number(value.toFixed(1))) : value.toFixed(0))

/** Formats a share from 0 to 1 in percent: `0`, `<0.1`, `2.5`, `100`. */
export const percent = (share: number): string => figure(share * 100)

/** `350us`, `2.1ms`, `45ms`, `1.5s`, `>30s`. */
export const duration = (quantile: Quantile | undefined): string => {
  if (!quantile) return '-'
  const { sec, isBeyond } = quantile
  return (isBeyond ? '>' : '') + spell(sec)
}

const spell = (sec: number): string => {
  if (sec < 0.0009995) return `${threeDigits(sec * 1e6)}us`
  return sec < 0.9995 ? `${threeDigits(sec * 1e3)}ms` : `${threeDigits(sec)}s`
}
