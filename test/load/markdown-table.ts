/** A table as Markdown has it. */
export const toMarkdownTable = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')

/** `0.7 ms`, `12 ms`. */
export const milliseconds = (durationMs: number): string => `${durationMs.toFixed(durationMs < 9.95 ? 1 : 0)} ms`
