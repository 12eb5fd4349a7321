// The ledger: one sealed sum over all links and their versions. A link that is deleted or restored outside the
// registry, even with its head, changes the sum. If the whole database is restored together with this sum, only
// comparing the number of changes reveals it.
import { openText, sealText } from "../crypto/envelope.ts";
import { headTerm } from "../crypto/head.ts";
import type { KeyRing } from "../crypto/key-ring.ts";
import { RegistryError } from "../errors.ts";
import type { Db, Row } from "./schema.ts";

/** A link's entry in the sum, under the master key of its head. */
export interface Entry {
  readonly id: string;
  readonly version: number;
  readonly verified: number;
  readonly master_key: string;
}

export interface LedgerState {
  /** Sum of the links' terms modulo 2^256. */
  readonly sum: bigint;
  readonly links: number;
  /** Only grows. */
  readonly changes: number;
}

const NAME = "links";
const MODULUS = 1n << 256n;
const EMPTY: LedgerState = { sum: 0n, links: 0, changes: 0 };

const context = (masterId: string) => ["ledger", NAME, masterId];

async function write(db: Db, ring: KeyRing, { sum, links, changes }: LedgerState): Promise<void> {
  const text = JSON.stringify({ sum: sum.toString(16).padStart(64, "0"), links, changes });
  const row = { master_key: ring.master.id, envelope: sealText(ring, context(ring.master.id), text) };
  await db.updateTable("phone_ledger").set(row).where("name", "=", NAME).execute();
}

/** Creates the ledger of an empty database. */
export async function beginLedger(db: Db, ring: KeyRing): Promise<void> {
  await db.insertInto("phone_ledger").values({ name: NAME, master_key: ring.master.id, envelope: "" }).execute();
  await write(db, ring, EMPTY);
}

/**
 * Reads the ledger and locks it until the transaction ends. This is the last lock that any transaction that changes
 * links acquires.
 * @throws RegistryError RECORD_TAMPERED
 */
async function lockLedger(db: Db, ring: KeyRing): Promise<LedgerState> {
  const same = db.updateTable("phone_ledger").set((eb) => ({ master_key: eb.ref("master_key") }));
  return openLedger(ring, await same.where("name", "=", NAME).returningAll().executeTakeFirst());
}

/** Reads the ledger without a lock. @throws RegistryError RECORD_TAMPERED */
export async function readLedger(db: Db, ring: KeyRing): Promise<LedgerState> {
  return openLedger(ring, await db.selectFrom("phone_ledger").selectAll().where("name", "=", NAME).executeTakeFirst());
}

function openLedger(ring: KeyRing, row: Row<"phone_ledger"> | undefined): LedgerState {
  if (row === undefined) throw new RegistryError("RECORD_TAMPERED", "the ledger of all links is missing");
  const { sum, links, changes } = JSON.parse(openText(ring, context(row.master_key), row.master_key, row.envelope)) as {
    sum: string;
    links: number;
    changes: number;
  };
  return { sum: BigInt(`0x${sum}`), links, changes };
}

export const termsOf = (ring: KeyRing, entries: readonly Entry[]): bigint =>
  entries.reduce((sum, entry) => (sum + headTerm(ring, entry)) % MODULUS, 0n);

/** Locks the ledger; undefined if it is missing or was not written by the registry. */
async function lockIfSound(db: Db, ring: KeyRing): Promise<LedgerState | undefined> {
  try {
    return await lockLedger(db, ring);
  } catch (error) {
    if (error instanceof RegistryError && error.code === "RECORD_TAMPERED") return undefined;
    throw error;
  }
}

/**
 * Records removed and added links. Without a valid ledger links can be removed but not added, and `check` still reports that the
 * ledger is missing.
 * @throws RegistryError RECORD_TAMPERED
 */
export async function updateLedger(
  db: Db,
  ring: KeyRing,
  gone: readonly Entry[],
  added: readonly Entry[],
): Promise<void> {
  const onlyLess = gone.length > 0 && added.length === 0;
  const state = onlyLess ? await lockIfSound(db, ring) : await lockLedger(db, ring);
  if (state === undefined) return;
  const { sum, links, changes } = state;
  // A head under an unknown key was never in the sum. The link can be removed, and the sum then shows the tampering.
  const entered = gone.filter(({ master_key }) => ring.masterOf(master_key) !== undefined);
  await write(db, ring, {
    sum: (sum + MODULUS - termsOf(ring, entered) + termsOf(ring, added)) % MODULUS,
    links: links + added.length - gone.length,
    changes: changes + 1,
  });
}

/**
 * Accepts the current links as the new baseline, after the operator examined an incident. If the ledger is missing or invalid, a new
 * one is created, and its number of changes starts at 0.
 * @param count counts all links while they are locked
 */
export async function accept(
  db: Db,
  ring: KeyRing,
  count: () => Promise<{ readonly links: number; readonly sum: bigint }>,
): Promise<LedgerState> {
  const before = await lockIfSound(db, ring);
  if (before === undefined) {
    await db.deleteFrom("phone_ledger").where("name", "=", NAME).execute();
    await beginLedger(db, ring);
  }
  const { links, sum } = await count();
  const state = { sum, links, changes: (before ?? EMPTY).changes + 1 };
  await write(db, ring, state);
  return state;
}
