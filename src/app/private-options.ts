import type { SidegateConfig } from '../config/load.ts'

/** The private listener to open, if there is one: without a hand-off nobody has anything to say there. */
export const privateOptions = ({ internal, oauth }: SidegateConfig): SidegateConfig['internal'] =>
  oauth.login.mode === 'handoff' ? internal : undefined
