// The log of a set: judgements and claims, from which anybody can compute its mask tree. Entries are only ever appended.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type Bytes32, bytesToHex, hexToBytes, TREE_CAPACITY } from "@sotto/protocol";
import { assertInteger, assertObject, concatBytes, fail, recode } from "@sotto/protocol/extend";
import { decodeClaim, encodeClaim, type OriginClaim } from "./claim.ts";
import { ZERO_BYTES } from "./head.ts";

/**
 * An entry about leaves. accept, refuse: the judgement of the deposit at this leaf; its last one counts. reorg: the chain was
 * reorganized, so judgements of leaves from this one on, and roots of heads that cover it, no longer count.
 */
export interface LeafEntry {
  /** What it says. */
  readonly type: "accept" | "refuse" | "reorg";
  /** Index of the leaf, 0 to 2^30 - 1. */
  readonly leaf: number;
}

/** An entry with a claim. A nullifier has at most one. */
export interface ClaimEntry {
  /** What it says. */
  readonly type: "claim";
  /** The claim, whose proof the curator verified. */
  readonly claim: OriginClaim;
}

/** An entry of a set's log. */
export type LogEntry = LeafEntry | ClaimEntry;

/** Maximum size of an entry as a line of the log, bytes. */
export const MAX_ENTRY_BYTES = 1_024;

/** The line of an entry, without the line break. Equal entries have equal lines. */
export const encodeEntry = (entry: LogEntry): string =>
  JSON.stringify(
    entry.type === "claim"
      ? { type: "claim", ...encodeClaim(entry.claim) }
      : { type: entry.type, leaf: assertInteger(entry.leaf, 0, TREE_CAPACITY - 1, "leaf") },
  );

/** Inverse of `encodeEntry`: accepts no other spelling of an entry. @throws SottoError INVALID_ARGUMENT */
export function decodeEntry(line: string): LogEntry {
  return recode("INVALID_ARGUMENT", "not an entry of a log", () => {
    if (line.length > MAX_ENTRY_BYTES) fail("INVALID_ARGUMENT", `it has more than ${MAX_ENTRY_BYTES} characters`);
    const entry = entryOf(parseJson(line));
    if (encodeEntry(entry) !== line) fail("INVALID_ARGUMENT", "it is not spelled as the log spells entries");
    return entry;
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return fail("INVALID_ARGUMENT", "it is not JSON");
  }
}

function entryOf(value: unknown): LogEntry {
  assertObject(value, "an entry");
  const { type, leaf } = value as { type?: unknown; leaf?: unknown };
  if (type === "claim") return { type, claim: decodeClaim(value) };
  if (type !== "accept" && type !== "refuse" && type !== "reorg")
    fail("INVALID_ARGUMENT", "its type must be accept, refuse, claim or reorg");
  return { type, leaf: assertInteger(leaf, 0, TREE_CAPACITY - 1, "leaf") };
}

/** The start of the hash chain: its value before the first entry. */
export const LOG_START: Bytes32 = ZERO_BYTES;

/** The hash chain after one more line: SHA-256 of its value before the line, and the line. */
export const chainLine = (before: Bytes32, line: string): Bytes32 =>
  bytesToHex(sha256(concatBytes(hexToBytes(before, 32), utf8ToBytes(line))));
