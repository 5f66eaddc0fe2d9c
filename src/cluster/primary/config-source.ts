import type { SidegateConfig } from '../../app.ts'

/** The files of the configuration, which may be read repeatedly. */
export interface ConfigSource {
  /**
   * Does not reject because of the content of the files. Each problem is one line for a person, and repeats no secret.
   */
  load(): Promise<
    | { readonly ok: true; readonly config: SidegateConfig }
    | { readonly ok: false; readonly problems: readonly string[] }
  >
  /** One text that identifies the content of all files which the last `load` has read. */
  loaded(): string
  /** The same for the current content of these files. Never rejects: a missing file counts as a content too. */
  current(): Promise<string>
}
