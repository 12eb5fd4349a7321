// Who did what and when, with what outcome. Numbers, wallets and clients are pseudonyms under a key that is not in the
// database: equal ones can be told to be equal, and nothing else. Lookups are not in it: a list of who asked for whom
// is what a thief would want.
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

/** 128 bits are enough to tell some millions apart. */
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
