import { record as audit } from "../audit/audit.ts";
import { RegistryError } from "../errors.ts";
import { forget, takeInTransaction } from "../quotas/quotas.ts";
import { consume } from "../store/once.ts";
import type { Context } from "./context.ts";
import { numberUses, tryUses } from "./limits.ts";
import { rememberUntil } from "./link.ts";
import { assertFields } from "./requests.ts";
import type { Erased, EraseRequest, UnlinkRequest } from "./types.ts";

const MESSAGES = {
  SIGNATURE_REPLAYED: "this signature was used before; sign again",
  NOT_LINKED: "the number is not linked to this wallet",
  LINK_OUTDATED: "the link was signed later than this unlink request; sign again with the current time",
} as const;

/** Deletes a wallet's links to a number, verified or not. The first call consumes the signature, even if it fails. */
export async function unlink(context: Context, request: UnlinkRequest): Promise<void> {
  assertFields(request, "phone", "wallet", "signature", "issuedAt", "client");
  const { database, ring, records, limits, options, clock } = context;
  const { phone, wallet, issuedAt, client } = request;
  // Creating wallets is free, so without a limit their signatures would fill the table of used digests.
  await takeInTransaction(database, ring, tryUses(limits, client), clock(), "CODES_LIMITED");
  const { digest } = await options.signatures.unlink(request, clock());
  const outcome = await database.transaction(records.locks(phone), async (db) => {
    const attempt = async (): Promise<keyof typeof MESSAGES | "ok"> => {
      if (!(await consume(db, ring, "unlink", [digest], rememberUntil(issuedAt, clock())))) return "SIGNATURE_REPLAYED";
      const both = [await records.verified(db, phone), await records.waiting(db, phone, wallet)];
      const own = both.filter((found) => found?.record.wallet === wallet).map((found) => found!);
      if (own.length === 0) return "NOT_LINKED";
      const older = own.filter(({ record }) => record.issuedAt <= issuedAt);
      if (older.length === 0) return "LINK_OUTDATED";
      await records.remove(
        db,
        older.map(({ row }) => row.id),
      );
      return "ok";
    };
    const said = await attempt();
    await audit(db, ring, { action: "unlink", outcome: said, phone, wallet, client }, clock());
    return said;
  });
  if (outcome !== "ok") throw new RegistryError(outcome, MESSAGES[outcome]);
}

/**
 * Deletes a number's links, codes and counters. It decrypts nothing, so it deletes damaged records too. Keyed hashes remain until
 * they expire: of structs that were used in the last day, and in the audit log.
 */
export async function erase(context: Context, request: EraseRequest): Promise<Erased> {
  assertFields(request, "phone", "client");
  const { database, ring, records, limits, clock } = context;
  const { phone, client } = request;
  const numbers = records.locks(phone);
  const erased = await database.transaction(numbers, async (db) => {
    const rows = await db.selectFrom("phone_mappings").select("id").where("number", "in", numbers).execute();
    const gone = await records.remove(
      db,
      rows.map(({ id }) => id),
    );
    const quotas = await forget(db, ring, numberUses(limits, phone), clock());
    await audit(db, ring, { action: "erase", outcome: "ok", phone, client }, clock());
    return { ...gone, quotas };
  });
  await database.scrub();
  return erased;
}
