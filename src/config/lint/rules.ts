import { certificateRules } from './certificates.ts'
import { surroundingRules } from './environment.ts'
import { listenerRules } from './listeners.ts'
import { operationRules } from './operations.ts'
import { secretStrengthRules } from './secret-strength.ts'
import { secretRules } from './secrets.ts'
import { storeRules } from './stores.ts'
import { tokenRules } from './tokens.ts'
import type { WarningRules } from './warning.ts'

/** All warnings of `check --strict`. A new rule is one member of a table and its row in README.md beside it. */
export const warningRules: WarningRules = {
  ...secretRules,
  ...secretStrengthRules,
  ...listenerRules,
  ...storeRules,
  ...tokenRules,
  ...operationRules,
  ...certificateRules,
  ...surroundingRules,
}
