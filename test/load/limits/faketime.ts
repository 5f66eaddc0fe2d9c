import { globSync } from 'node:fs'

/** Debian's package `libfaketime`; undefined where it is not installed. */
export const faketime = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0]

/** The environment of a pod whose clock is wrong: 5 s fast, that of every second pod 5 s slow. */
export const skewOf = (pod: number): Readonly<Record<string, string>> => ({
  LD_PRELOAD: faketime ?? '',
  FAKETIME: pod % 2 === 0 ? '+5s' : '-5s',
  // Timers use the monotonic clock, which stays correct.
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})
