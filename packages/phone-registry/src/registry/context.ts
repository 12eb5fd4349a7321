// Shared by all operations.
import type { Address } from "@sotto/protocol";
import type { KeyRing } from "../crypto/key-ring.ts";
import type { LinkRecord } from "../store/link-record.ts";
import type { Records } from "../store/records.ts";
import type { RegistryDatabase } from "../store/schema.ts";
import type { RegistryLimits, RegistryOptions } from "./options.ts";
import type { Mapping, MappingChange } from "./types.ts";

export interface Context {
  readonly database: RegistryDatabase;
  readonly ring: KeyRing;
  readonly records: Records;
  readonly limits: RegistryLimits;
  readonly options: RegistryOptions;
  /** ms */
  readonly clock: () => number;
}

/** Validity of a link in seconds, from its issuedAt. */
export const LINK_LIFETIME_SECONDS = 400 * 86_400;
/** How long accepted digests are remembered, ms: longer than a signed struct is accepted (a day). */
export const DIGEST_MEMORY_MS = 26 * 3_600_000;

export const isEnded = (record: LinkRecord, now: number): boolean => record.expiresAt * 1000 <= now;

export function mappingOf(record: LinkRecord, verified: boolean): Mapping {
  const { phone, key, service, issuedAt, signature, expiresAt } = record;
  const [wallet, pool] = [record.wallet as Address, record.pool as Address];
  const binding = { phone, wallet, key, chainId: BigInt(record.chainId), pool, service, issuedAt };
  return { binding, signature, verified, expiresAt };
}

/** The change that a new link makes for payers; undefined if there was no link before or nothing changes. */
export function changeOf(before: LinkRecord | undefined, after: LinkRecord): MappingChange | undefined {
  if (before === undefined) return undefined;
  const wallet =
    before.wallet === after.wallet ? {} : { wallet: { from: before.wallet as Address, to: after.wallet as Address } };
  const key = before.key === after.key ? {} : { key: { from: before.key, to: after.key } };
  const change: MappingChange = { ...wallet, ...key };
  return Object.keys(change).length === 0 ? undefined : change;
}
