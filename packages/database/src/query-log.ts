import type { LogEvent } from "kysely";
import type { ConnectOptions } from "./connection.ts";

/** Kysely's option that reports the text of each query. */
export const logger = (onQuery: ConnectOptions["onQuery"]) =>
  onQuery === undefined ? {} : { log: (event: LogEvent) => onQuery(event.query.sql) };
