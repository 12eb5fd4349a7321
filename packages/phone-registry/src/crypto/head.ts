import { timingSafeEqual } from "node:crypto";
import { RegistryError } from "../errors.ts";
import type { Place } from "./envelope.ts";
import { hmacOf, type KeyRing, type MasterKey } from "./key-ring.ts";

/** Authenticates the newest version of a record under a master key. */
export function sealHead(ring: KeyRing, place: Place, master: MasterKey = ring.master): string {
  ring.work("hmac");
  const { table, id, version, verified } = place;
  return hmacOf(master.seal, ["head", table, id, version, verified ? 1 : 0]).toString("base64url");
}

interface HeadEntry {
  readonly id: string;
  readonly version: number;
  readonly verified: number;
  readonly master_key: string;
}

export interface Head {
  readonly version: number;
  readonly master_key: string;
  readonly seal: string;
}

/**
 * Refuses a record whose head is missing, forged or of another version, for example a row restored from an older state.
 * @throws RegistryError RECORD_TAMPERED, KEY_MISSING
 */
export function assertHead(ring: KeyRing, place: Place, head: Head | undefined): void {
  const master = ring.masterOf(head?.master_key ?? ring.master.id);
  if (master === undefined)
    throw new RegistryError("KEY_MISSING", "a record's master key is not in the ring", {
      keys: head?.master_key ?? "",
    });
  const expected = Buffer.from(sealHead(ring, place, master));
  const actual = Buffer.from(head?.seal ?? "");
  const fits = expected.length === actual.length && timingSafeEqual(expected, actual);
  if (head?.version !== place.version || !fits)
    throw new RegistryError("RECORD_TAMPERED", "a record is not the newest version that was written");
}

/**
 * A head's term in the sum over all heads, 256 bits. It is not the seal's HMAC and is never stored, so that nobody
 * without the key can search for other heads with the same sum.
 * @throws RegistryError KEY_MISSING
 */
export function headTerm(ring: KeyRing, head: HeadEntry): bigint {
  const master = ring.masterOf(head.master_key);
  if (master === undefined)
    throw new RegistryError("KEY_MISSING", "a record's master key is not in the ring", { keys: head.master_key });
  ring.work("hmac");
  return BigInt(`0x${hmacOf(master.sum, ["term", head.id, head.version, head.verified]).toString("hex")}`);
}
