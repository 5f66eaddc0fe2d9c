import { join } from 'node:path'

/**
 * The folder of the code: `src` in a checkout, `dist` in a package or an image, where this module is part of a bundle.
 */
const codeDir = import.meta.dirname

const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'

/** The configuration file that Sidegate is delivered with. */
export const demoConfigFile = join(codeDir, '../config/sidegate.yaml')

/** The program of the demo service behind that configuration. */
export const demoUpstreamFile = join(codeDir, `demo/upstream.${extension}`)
