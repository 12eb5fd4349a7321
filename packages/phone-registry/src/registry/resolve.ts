import { giveBack, type Shares, takeAlone } from "../quotas/quotas.ts";
import { type Context, isOver, mappingOf } from "./context.ts";
import { lookupUses, rangeUses } from "./limits.ts";
import type { RegistryMetrics } from "./options.ts";
import { expectFields } from "./requests.ts";
import type { Mapping, ResolveRequest } from "./types.ts";

/**
 * Counts, looks, opens, counts again: every number costs the same queries, hashes and decryptions, whether it is known,
 * unknown, expired or not proven.
 */
export async function resolve(context: Context, request: ResolveRequest): Promise<Mapping | undefined> {
  expectFields(request, "phone", "client", "caller");
  const { database, ring, records, limits, options, clock } = context;
  const now = clock();
  const shares = await takeAlone(database, ring, lookupUses(limits, request), now, "LOOKUPS_LIMITED");
  const found = await records.first(database.db, request.phone);
  const verified = found?.row.verified === 1;
  const shown = found !== undefined && !isOver(found.record, now) && (verified || options.unverified !== "hide");
  const mapping = shown ? mappingOf(found.record, verified) : undefined;
  const back = verified && shown ? 1 : 0;
  await database.transaction([], (db) => giveBack(db, ring, rangeUses(limits, request.phone), now, back));
  tell(options.metrics, shares);
  return mapping;
}

function tell(metrics: RegistryMetrics | undefined, shares: Shares): void {
  for (const [scope, share] of shares)
    metrics?.quotaUse(scope.slice("lookup-".length) as "client" | "caller" | "range" | "clientRange", share);
}
