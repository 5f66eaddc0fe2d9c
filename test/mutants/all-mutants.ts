import type { Mutant } from './mutant.ts'
import { authorizationMutants } from './tables/authorization.ts'
import { clusterMutants } from './tables/cluster.ts'
import { configMutants } from './tables/config.ts'
import { gatewayMutants } from './tables/gateway.ts'
import { httpMutants } from './tables/http.ts'
import { limitMutants } from './tables/limits.ts'
import { proofMutants } from './tables/proofs.ts'
import { singleUseMutants } from './tables/single-use.ts'
import { telemetryMutants } from './tables/telemetry.ts'
import { tokenMutants } from './tables/tokens.ts'

/** Every fault that `npm run mutants` plants. */
export const allMutants: readonly Mutant[] = [
  ...tokenMutants,
  ...authorizationMutants,
  ...proofMutants,
  ...singleUseMutants,
  ...limitMutants,
  ...gatewayMutants,
  ...httpMutants,
  ...clusterMutants,
  ...configMutants,
  ...telemetryMutants,
]
