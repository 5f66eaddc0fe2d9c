/** Words that plain technical English does not need, and the words to write in their place. */
export interface Rule {
  readonly name: string
  /** Global and without regard to case. */
  readonly pattern: RegExp
  readonly advice: string
}

const words = (name: string, pattern: string, advice: string): Rule => ({
  name,
  pattern: new RegExp(`\\b(?:${pattern})\\b`, 'gi'),
  advice,
})

/** A rule may give a false alarm in a good sentence: another wording ends it. */
export const rules: readonly Rule[] = [
  words(
    'indefinite person',
    'who|whom|whoever|whomever|nobody|somebody|someone|anybody|anyone|everybody|everyone|no one',
    'name the actor: the client, the user, the operator, the worker, the socket',
  ),
  words('indefinite thing', 'of those|of these before|of before|of then|of now', 'name the thing'),
  words('absence', 'is none|are none|none that|no more', 'say what is missing, or what ends'),
  words(
    'a program that speaks',
    'it is told|are told|is told|says so|say so|is said|was said|has heard|is heard',
    'name the message, the event, the field or the call',
  ),
  {
    name: 'a sentence that begins with What',
    pattern: /(?:^|[.:;!]\s+|\n\s*\n\s*)(?:What|Whatever)\b(?![^.]*\?)/g,
    advice: 'begin with the noun',
  },
]
