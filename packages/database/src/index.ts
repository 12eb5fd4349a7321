export type { Migration } from "kysely/migration";
export type { Connection, ConnectOptions } from "./connection.ts";
export { DATABASE_ERRORS } from "./error-definitions.ts";
export { DatabaseError, type DatabaseErrorCode, isUnavailable } from "./errors.ts";
export { holderName } from "./holder.ts";
export { type Lease, type LeaseTable, leasesIn } from "./leases.ts";
export type { Migrations } from "./migrate.ts";
export { type Database, type OpenOptions, openDatabase } from "./open.ts";
export { NodeSqliteDialect } from "./sqlite-dialect.ts";
