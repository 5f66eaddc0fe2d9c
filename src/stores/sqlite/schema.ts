/** Incremented with every change of the tables below. */
export const schemaVersion = 4

/**
 * Every table with a lifetime column `until_ms`, indexed so that expired rows are found without a scan. NULL: no end.
 */
export const tables = [
  'signing_keys',
  'grants',
  'access_tokens',
  'revocations',
  'cutoffs',
  'interactions',
  'replays',
  'subjects',
  'pushed_requests',
  'clients',
] as const
export type Table = (typeof tables)[number]

/**
 * The rows of a table whose user or client has not authenticated. An index contains only these, so that counting them
 * is fast.
 */
export const unprovenRows = {
  interactions: "json_extract(record, '$.stage') = 'login'",
  pushed_requests: "json_extract(request, '$.isUnproven') = 1",
} as const satisfies Partial<Record<Table, string>>

/** `../README.md` describes the content of each table. Records are JSON; times are milliseconds since 1970. */
export const schema = `
CREATE TABLE IF NOT EXISTS signing_keys (
  kid TEXT PRIMARY KEY, alg TEXT NOT NULL, created_at_ms INTEGER NOT NULL, active_at_ms INTEGER, jwk TEXT NOT NULL,
  until_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS grants (
  grant_id TEXT PRIMARY KEY, record TEXT NOT NULL,
  code_digest TEXT NOT NULL, code_proof TEXT NOT NULL, code_expires_at_ms INTEGER NOT NULL,
  spent INTEGER NOT NULL, failures INTEGER NOT NULL,
  refresh_digest TEXT, binding TEXT, previous_digest TEXT, refreshed_at_ms INTEGER NOT NULL, generation INTEGER NOT NULL,
  longest_token_sec INTEGER, until_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS access_tokens (
  digest TEXT PRIMARY KEY, grant_id TEXT NOT NULL, record TEXT NOT NULL, until_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS revocations (
  place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, until_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS cutoffs (
  place INTEGER PRIMARY KEY AUTOINCREMENT, client_id TEXT, sub TEXT, through_sec INTEGER NOT NULL, until_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS interactions (
  id TEXT PRIMARY KEY, record TEXT NOT NULL, version INTEGER NOT NULL, until_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS replays (id TEXT PRIMARY KEY, until_ms INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS subjects (digest TEXT PRIMARY KEY, until_ms INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS pushed_requests (
  id TEXT PRIMARY KEY, request TEXT, completed_by TEXT, until_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS clients (
  place INTEGER PRIMARY KEY AUTOINCREMENT, client_id TEXT NOT NULL UNIQUE, members TEXT, disabled INTEGER NOT NULL,
  until_ms INTEGER
);
${tables.map(table => `CREATE INDEX IF NOT EXISTS ${table}_until ON ${table} (until_ms)`).join(';\n')};
${Object.entries(unprovenRows)
  .map(([table, rows]) => `CREATE INDEX IF NOT EXISTS ${table}_unproven ON ${table} (until_ms) WHERE ${rows}`)
  .join(';\n')}
`

/**
 * The statements that a file of an older version needs before `schema`: the first entry migrates version 1 to 2, and so
 * on.
 */
export const migrations: readonly string[] = [
  'ALTER TABLE signing_keys ADD COLUMN active_at_ms INTEGER; ALTER TABLE grants ADD COLUMN binding TEXT',
  'ALTER TABLE grants ADD COLUMN longest_token_sec INTEGER',
  '', // `schema` makes the table `subjects`
]
