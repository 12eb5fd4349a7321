// Links as rows. They are found by blind index, and decrypted only if id, version, kind and number match.
import { openRecord, type Place, sealRecord } from "../crypto/envelope.ts";
import { assertHead, type Head, sealHead } from "../crypto/head.ts";
import { randomId } from "../crypto/ids.ts";
import type { KeyRing } from "../crypto/key-ring.ts";
import { RegistryError } from "../errors.ts";
import { decoyRow } from "./decoy.ts";
import { type Entry, updateLedger } from "./ledger.ts";
import type { LinkRecord, MappingRow } from "./link-record.ts";
import type { Db } from "./schema.ts";

export interface Found {
  readonly row: MappingRow;
  readonly record: LinkRecord;
}

const TABLE = "phone_mappings";
const DAY_MS = 86_400_000;

export const placeOf = (row: { id: string; version: number; verified: number }): Place => ({
  table: TABLE,
  id: row.id,
  version: row.version,
  verified: row.verified === 1,
});

/** Its entry in the ledger of all links. */
export const entryOf = (row: MappingRow): Entry => ({
  id: row.id,
  version: row.version,
  verified: row.verified,
  master_key: row.head_master ?? row.master_key,
});

export const rows = (db: Db) =>
  db
    .selectFrom("phone_mappings as m")
    .leftJoin("phone_heads as h", "h.id", "m.id")
    .selectAll("m")
    .select(["h.version as head_version", "h.master_key as head_master", "h.seal as head_seal"]);

export function headOf({ head_version, head_master, head_seal }: MappingRow): Head | undefined {
  if (head_version === null || head_master === null || head_seal === null) return undefined;
  return { version: head_version, master_key: head_master, seal: head_seal };
}

/** @throws RegistryError RECORD_TAMPERED, KEY_MISSING */
export function openRow(ring: KeyRing, row: MappingRow): LinkRecord {
  const place = placeOf(row);
  // Always performs both checks, so that the work does not reveal which one fails.
  const record = openRecord(ring, place, row.master_key, row.envelope) as LinkRecord;
  assertHead(ring, place, headOf(row));
  return record;
}

export class Records {
  readonly #ring: KeyRing;
  readonly #decoy: MappingRow;

  constructor(ring: KeyRing) {
    this.#ring = ring;
    this.#decoy = decoyRow(ring, TABLE);
  }

  /** The locks for changes of a number's links, so that only one transaction at a time changes them. */
  locks(phone: string): string[] {
    return this.#ring.blinds("number", [phone]);
  }

  /**
   * A number's verified link, or else the newest unverified one. A number without links takes the same work.
   * @throws RegistryError RECORD_TAMPERED
   */
  async first(db: Db, phone: string): Promise<Found | undefined> {
    const query = rows(db).where("m.number", "in", this.#ring.blinds("number", [phone]));
    const row = await query
      .orderBy("m.verified", "desc")
      .orderBy("m.sweep_at", "desc")
      .orderBy("m.id")
      .limit(1)
      .executeTakeFirst();
    return this.#open(row, phone);
  }

  /** @throws RegistryError RECORD_TAMPERED */
  verified(db: Db, phone: string): Promise<Found | undefined> {
    return this.#inSlot(db, [phone], phone);
  }

  /** The unverified link of a number to a wallet. @throws RegistryError RECORD_TAMPERED */
  async waiting(db: Db, phone: string, wallet: string): Promise<Found | undefined> {
    const found = await this.#inSlot(db, [phone, wallet], phone);
    if (found !== undefined && found.record.wallet !== wallet)
      throw new RegistryError("RECORD_TAMPERED", "a record is in the row of another one");
    return found;
  }

  /** Ids of all unverified links of a number. */
  async waitingIds(db: Db, phone: string, now: number): Promise<string[]> {
    const query = db.selectFrom("phone_mappings").select("id").where("number", "in", this.locks(phone));
    const found = await query.where("verified", "=", 0).where("sweep_at", ">", now).execute();
    return found.map(({ id }) => id);
  }

  /** Writes a link into a new row, or over `old`. @param sweepAt ms @returns the row's id */
  async put(db: Db, record: LinkRecord, verified: boolean, sweepAt: number, old?: Found): Promise<string> {
    const ring = this.#ring;
    const place: Place = {
      table: TABLE,
      id: old?.row.id ?? randomId(),
      version: (old?.row.version ?? 0) + 1,
      verified,
    };
    const { id, version } = place;
    const key = { master_key: ring.master.id };
    const row = {
      id,
      number: ring.blind("number", [record.phone]),
      slot: this.slot(record, verified),
      index_key: ring.index.id,
      verified: verified ? 1 : 0,
      version,
      ...key,
      envelope: sealRecord(ring, place, record),
      sweep_at: verified ? Math.ceil(sweepAt / DAY_MS) * DAY_MS : sweepAt,
    };
    const head = { id, version, ...key, seal: sealHead(ring, place) };
    if (old === undefined) {
      await db.insertInto("phone_mappings").values(row).execute();
      await db.insertInto("phone_heads").values(head).execute();
    } else {
      await db.updateTable("phone_mappings").set(row).where("id", "=", id).execute();
      await db.updateTable("phone_heads").set(head).where("id", "=", id).execute();
    }
    const entry = { id, version, verified: row.verified, ...key };
    await updateLedger(db, ring, old === undefined ? [] : [entryOf(old.row)], [entry]);
    return id;
  }

  slot({ phone, wallet }: { phone: string; wallet: string }, verified: boolean): string {
    return this.#ring.blind("slot", verified ? [phone] : [phone, wallet]);
  }

  /** Deletes links, their heads and codes. @returns the number of links and codes */
  async remove(db: Db, ids: readonly string[]): Promise<{ mappings: number; codes: number }> {
    if (ids.length === 0) return { mappings: 0, codes: 0 };
    const before = await rows(db).where("m.id", "in", ids).execute();
    const codes = await db.deleteFrom("phone_codes").where("mapping_id", "in", ids).returning("mapping_id").execute();
    await db.deleteFrom("phone_heads").where("id", "in", ids).execute();
    const gone = await db.deleteFrom("phone_mappings").where("id", "in", ids).returning("id").execute();
    if (before.length > 0) await updateLedger(db, this.#ring, before.map(entryOf), []);
    return { mappings: gone.length, codes: codes.length };
  }

  async #inSlot(db: Db, slot: string[], phone: string): Promise<Found | undefined> {
    const query = rows(db).where("m.slot", "in", this.#ring.blinds("slot", slot));
    const found = this.#open(await query.executeTakeFirst(), phone);
    if (found !== undefined && (found.row.verified === 1) !== (slot.length === 1))
      throw new RegistryError("RECORD_TAMPERED", "a record is in the row of another one");
    return found;
  }

  #open(row: MappingRow | undefined, phone: string): Found | undefined {
    const record = openRow(this.#ring, row ?? this.#decoy);
    if (row === undefined) return undefined;
    // If the indexes of two rows were swapped, both can be decrypted but belong to another number.
    if (record.phone !== phone) throw new RegistryError("RECORD_TAMPERED", "a record is in the row of another one");
    return { row, record };
  }
}
