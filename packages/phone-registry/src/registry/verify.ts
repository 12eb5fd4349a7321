import { record as audit } from "../audit/audit.ts";
import { tryCode } from "../codes/codes.ts";
import { RegistryError } from "../errors.ts";
import { takeInTransaction } from "../quotas/quotas.ts";
import { consume } from "../store/once.ts";
import type { Found } from "../store/records.ts";
import type { Db } from "../store/schema.ts";
import { type Context, changeOf, isEnded, mappingOf } from "./context.ts";
import { tryUses } from "./limits.ts";
import { rememberUntil } from "./link.ts";
import { assertFields } from "./requests.ts";
import type { VerifyRequest, VerifyResult } from "./types.ts";

const MESSAGES = {
  CODE_WRONG: "the code is wrong",
  CODE_EXPIRED: "there is no code for this number and wallet, or it has expired; link again to get another",
  CODE_EXHAUSTED: "the code was tried too often; link again to get another",
  LINK_OUTDATED: "a link that was signed later exists; sign again with the current time",
} as const;

/**
 * Refusals are returned as values until the transaction is committed, because an exception would roll back the counted
 * try.
 */
type Outcome = { readonly result: VerifyResult } | { readonly refused: keyof typeof MESSAGES; triesLeft?: number };

export async function verify(context: Context, request: VerifyRequest): Promise<VerifyResult> {
  assertFields(request, "phone", "wallet", "code", "client");
  const { database, ring, records, limits, clock } = context;
  const { phone, wallet, client } = request;
  await takeInTransaction(database, ring, tryUses(limits, client), clock(), "CODES_LIMITED");
  const outcome = await database.transaction(records.locks(phone), async (db) => {
    const done = await attempt(context, db, request);
    const outcome = "result" in done ? "ok" : done.refused;
    // Tries without a code belong to no link, and would let any client fill the log.
    if (outcome !== "CODE_EXPIRED")
      await audit(db, ring, { action: "verify", outcome, phone, wallet, client }, clock());
    return done;
  });
  if ("result" in outcome) return outcome.result;
  const { refused, triesLeft } = outcome;
  throw new RegistryError(refused, MESSAGES[refused], triesLeft === undefined ? {} : { triesLeft });
}

async function attempt(context: Context, db: Db, { phone, wallet, code }: VerifyRequest): Promise<Outcome> {
  const { ring, records, clock } = context;
  const now = clock();
  // Decrypted before the code is compared, so that a damaged record does not reveal whether a guess was right.
  const waiting = await records.waiting(db, phone, wallet);
  const verified = await records.verified(db, phone);
  if (waiting === undefined) return { refused: "CODE_EXPIRED" };
  const tried = await tryCode(db, ring, { id: waiting.row.id, phone, wallet }, code, now);
  if (tried.kind === "wrong") return { refused: "CODE_WRONG", triesLeft: tried.triesLeft };
  if (tried.kind !== "right") return { refused: tried.kind === "expired" ? "CODE_EXPIRED" : "CODE_EXHAUSTED" };
  await records.remove(db, [waiting.row.id]);
  const current = verified !== undefined && !isEnded(verified.record, now) ? verified : undefined;
  // The later date wins. If the dates are equal, the later proof wins: this one.
  if (current !== undefined && current.record.issuedAt > waiting.record.issuedAt) return { refused: "LINK_OUTDATED" };
  return { result: await putInForce(context, db, waiting, verified, current) };
}

async function putInForce(
  { ring, records, clock }: Context,
  db: Db,
  { record }: Found,
  old: Found | undefined,
  current: Found | undefined,
): Promise<VerifyResult> {
  await consume(db, ring, "link", [record.digest], rememberUntil(record.issuedAt, clock()));
  await records.put(db, record, true, record.expiresAt * 1000, old);
  const changed = changeOf(current?.record, record);
  return { mapping: mappingOf(record, true), changed };
}
