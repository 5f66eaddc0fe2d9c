/** How much a gateway tells in its audit log, for the configuration, which knows this room and not telemetry. */
export { type AuditScope, auditScopes } from '../telemetry/audit-actions.ts'
