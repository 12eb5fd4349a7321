import { type Shares, take, undoTake } from "../quotas/quotas.ts";
import { noteAnswer, noteAsked, seenLock } from "../quotas/seen.ts";
import { type Context, isEnded, mappingOf } from "./context.ts";
import { askerOf, lookupUses } from "./limits.ts";
import type { RegistryMetrics } from "./options.ts";
import { assertFields } from "./requests.ts";
import type { Mapping, ResolveRequest } from "./types.ts";

/**
 * Counts, reads, decrypts and counts again. Every number costs the same queries, hashes and decryptions, whether it is
 * known, unknown, expired or unverified, and whether the client looked it up before.
 *
 * Quotas limit unknown numbers, but a refusal must not reveal whether a number is known. So a lookup that is new to the client is
 * counted, and refused at the limit, before the number is read; the count is undone if the number is known. Repeated lookups
 * are never refused.
 */
export async function resolve(context: Context, request: ResolveRequest): Promise<Mapping | undefined> {
  assertFields(request, "phone", "client", "caller");
  const { database, ring, records, limits, options, clock } = context;
  const now = clock();
  const asked = { who: askerOf(request), phone: request.phone };
  const locks = [seenLock(ring, asked)];
  const { seen, uses, shares } = await database.transaction(locks, async (db) => {
    const seen = await noteAsked(db, ring, asked, now);
    const uses = lookupUses(limits, request, seen);
    return { seen, uses, shares: await take(db, ring, uses, now, "LOOKUPS_LIMITED") };
  });
  const found = await records.first(database.db, request.phone);
  const verified = found?.row.verified === 1;
  const shown = found !== undefined && !isEnded(found.record, now) && (verified || options.unverified !== "hide");
  const mapping = shown ? mappingOf(found.record, verified) : undefined;
  const known = verified && shown;
  await database.transaction(locks, async (db) => {
    await undoTake(db, ring, uses, now, known || seen ? 1 : 0);
    await noteAnswer(db, ring, asked, now, known);
  });
  if (!seen) reportUse(options.metrics, shares);
  return mapping;
}

function reportUse(metrics: RegistryMetrics | undefined, shares: Shares): void {
  for (const [scope, share] of shares)
    metrics?.quotaUse(scope.slice("lookup-".length) as "client" | "caller" | "range" | "clientRange", share);
}
