/**
 * Why a message was refused: it breaks RFC 9112 or RFC 9110, or two readers could understand it differently.
 * `head-too-large`, `too-many-fields` and `unknown-method` are refused with a status of their own (431, 431, 501),
 * everything else with 400.
 */
export type InvalidMessageReason =
  | 'bad-request-line'
  | 'bad-status-line'
  | 'bad-version'
  | 'bad-target'
  | 'bad-host'
  | 'missing-host'
  | 'two-hosts'
  | 'unknown-method'
  | 'bare-cr-or-lf'
  | 'control-byte'
  | 'obs-fold'
  | 'not-a-field'
  | 'bad-field-name'
  | 'bad-field-value'
  | 'too-many-fields'
  | 'head-too-large'
  | 'bad-length'
  | 'two-lengths'
  | 'length-and-coding'
  | 'bad-coding'
  | 'coding-in-http-1.0'
  | 'bad-chunk-size'
  | 'bad-chunk-end'
  | 'bad-trailer'
  | 'forbidden-trailer'
  | 'chunk-line-too-long'
  | 'trailers-too-large'
  | 'incomplete'
  | 'bad-interim-response'

/** A message that cannot be read in exactly one way. */
export class InvalidMessageError extends Error {
  override readonly name = 'InvalidMessageError'
  readonly reason: InvalidMessageReason

  /** @param message a sentence for the log of the operator; nothing of the message itself */
  constructor(reason: InvalidMessageReason, message: string) {
    super(message)
    this.reason = reason
  }
}
