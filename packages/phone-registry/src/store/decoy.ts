import { type Place, sealRecord } from "../crypto/envelope.ts";
import { sealHead } from "../crypto/head.ts";
import { randomId } from "../crypto/ids.ts";
import type { KeyRing } from "../crypto/key-ring.ts";
import type { LinkRecord, MappingRow } from "./link-record.ts";

/** A dummy row, decrypted for unknown numbers, so that they take as long as known ones. */
export function decoyRow(ring: KeyRing, table: string): MappingRow {
  const place: Place = { table, id: randomId(), version: 1, verified: true };
  const record: LinkRecord = {
    phone: "",
    wallet: `0x${"0".repeat(40)}`,
    key: `0x${"0".repeat(128)}`,
    signature: `0x${"0".repeat(130)}`,
    chainId: "0",
    pool: `0x${"0".repeat(40)}`,
    service: "",
    issuedAt: 0,
    provenIssuedAt: 0,
    digest: `0x${"0".repeat(64)}`,
    expiresAt: 0,
  };
  return {
    id: place.id,
    number: "",
    slot: "",
    index_key: ring.index.id,
    verified: 1,
    version: 1,
    sweep_at: 0,
    master_key: ring.master.id,
    envelope: sealRecord(ring, place, record),
    head_version: 1,
    head_master: ring.master.id,
    head_seal: sealHead(ring, place),
  };
}
