// The audit log: actions, outcomes and times. Numbers, wallets and clients are stored as pseudonyms under a key that is
// not in the database: they only show whether two entries concern the same number, wallet or client. Lookups are not
// logged, because a list of lookups would show who pays whom.
import { randomId } from "../crypto/ids.ts";
import type { KeyRing } from "../crypto/key-ring.ts";
import type { Db } from "../store/schema.ts";

export type AuditAction = "link" | "verify" | "relink" | "unlink" | "erase" | "rotate";

export interface AuditEntry {
  readonly action: AuditAction;
  /** ok, or an error's code. */
  readonly outcome: string;
  readonly phone?: string | undefined;
  readonly wallet?: string | undefined;
  readonly client?: string | undefined;
}

/** 128 bits, enough for millions of distinct values. */
const PSEUDONYM_LENGTH = 22;

export function pseudonym(ring: KeyRing, kind: "number" | "wallet" | "client", value: string): string {
  return ring.blind("audit", [kind, value]).slice(0, PSEUDONYM_LENGTH);
}

/** @param now ms */
export async function record(db: Db, ring: KeyRing, entry: AuditEntry, now: number): Promise<void> {
  const { action, outcome, phone, wallet, client } = entry;
  const of = (kind: "number" | "wallet" | "client", value: string | undefined) =>
    value === undefined ? null : pseudonym(ring, kind, value);
  const row = {
    id: randomId(),
    at: now,
    action,
    outcome,
    index_key: ring.index.id,
    number: of("number", phone),
    wallet: of("wallet", wallet),
    client: of("client", client),
  };
  await db.insertInto("phone_audit").values(row).execute();
}
