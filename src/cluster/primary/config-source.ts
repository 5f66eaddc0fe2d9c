import type { SidegateConfig } from '../../app.ts'

/** Where the configuration comes from, as often as it is asked. */
export interface ConfigSource {
  /** Never rejects for what the files hold. A problem is a line for a person, and repeats no secret. */
  load(): Promise<
    | { readonly ok: true; readonly config: SidegateConfig }
    | { readonly ok: false; readonly problems: readonly string[] }
  >
  /** One text for the content of all files that were read by the last `load`, as it was then. */
  loaded(): string
  /** The same for what these files hold now. Never rejects: a file that is away is a content too. */
  current(): Promise<string>
}
