// What a wallet keeps of the sets that it follows, in its store. JSON values.
import type { Address } from "@sotto/protocol";
import type { StoreValue } from "@sotto/wallet";
import type { WireClaim } from "../core/claim.ts";
import type { WireHead } from "../core/head.ts";

/** Prefix of all records of this module in the wallet's store. */
const PREFIX = "origins/";

/** What identifies a set in a wallet, which has one chain and one pool. */
export interface SetKey {
  /** The account with whose key the curator signs, lower case. */
  readonly curator: Address;
  readonly name: string;
}

/** Why the wallet follows a curator no longer, and what proves it. */
export interface StoppedRecord {
  readonly code: "CURATOR_EQUIVOCATED" | "CURATOR_MASK_FALSE";
  readonly message: string;
  /** When, ms. */
  readonly at: number;
  /** The signed heads that convict the curator. */
  readonly heads: readonly WireHead[];
}

/** What failed at the last sync of a set. */
export interface ProblemRecord {
  /** Code of the error. */
  readonly code: string;
  readonly message: string;
  /** When the first sync after the last successful one failed, ms. */
  readonly since: number;
}

/** A set that the wallet follows, or followed while it showed origins for it. */
export interface SetRecord extends SetKey {
  /** Base URL of the curator's files. */
  readonly url: string;
  /** Base URLs at which copies of the heads are. */
  readonly mirrors: readonly string[];
  /** Least crowd without which no origin is shown. */
  readonly minimumCrowd: number;
  /** Block up to which the wallet had read the chain when it began to follow. Spends up to it are not claimed. */
  readonly since: number;
  readonly followed: boolean;
  /** The newest head that the wallet took. */
  readonly head: WireHead | null;
  /** Its manifest, base64url. */
  readonly manifest: string;
  /** Chunks of it whose root was compared with the pool's leaves. */
  readonly checked: readonly number[];
  /** The newest signed head that the wallet saw, taken or not. */
  readonly seen: WireHead | null;
  /** Leaves that heads removed since the wallet began to follow. */
  readonly removed: number;
  /** Up to how many removed leaves the owner has consented. */
  readonly consented: number;
  /** Removed leaves of the head that waits for the owner's consent; null if none does. */
  readonly asked: number | null;
  readonly stopped: StoppedRecord | null;
  /** Null or absent if nothing failed. */
  readonly problem?: ProblemRecord | null;
}

/** What the curator's endpoint said about a claim; null until it answers. */
export type ClaimResult = string | null;

/** An origin of one of the wallet's notes, stored before it is shown anywhere. */
export interface ClaimRecord extends WireClaim, SetKey {
  readonly leafIndex: number;
  /** Number of the head with the root. */
  readonly head: number;
  /** Time of the block of the first head with another root, seconds; null while the root is the newest. */
  readonly until: number | null;
  readonly result: ClaimResult;
  /** Failed attempts to send it. */
  readonly attempts: number;
  /** When it is sent again, ms. */
  readonly next: number;
}

export const SETS = `${PREFIX}sets/`;
export const CLAIMS = `${PREFIX}claims/`;
export const BITMAPS = `${PREFIX}bitmaps/`;

export const setKeyOf = ({ curator, name }: SetKey): string => `${curator}/${name}`;
export const setPlace = (set: SetKey): string => SETS + setKeyOf(set);
export const claimPlace = (set: SetKey, nullifier: string): string => `${CLAIMS}${setKeyOf(set)}/${nullifier}`;
export const bitmapPlace = (hash: string): string => BITMAPS + hash.slice(2);

/** The records are JSON values, but their interfaces lack the index signature of StoreValue. */
export const asValue = (record: SetRecord | ClaimRecord): StoreValue => record as unknown as StoreValue;
