import type { Database } from "@sotto/database";
import { type RawBuilder, sql } from "kysely";
import type { PrepaidSchema } from "./schema.ts";

/** Each element of a list, as `value`, in one statement whose text does not depend on the list. */
export function jsonElements({ kind }: Database<PrepaidSchema>, list: readonly unknown[]): RawBuilder<unknown> {
  const json = JSON.stringify(list);
  return kind === "sqlite" ? sql`json_each(${json})` : sql`json_array_elements(${json}::json) as value`;
}
