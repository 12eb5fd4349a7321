// The log of a set: judgements and claims, from which anybody can compute its mask tree. Entries are only ever appended.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type Bytes32, bytesToHex, hexToBytes, TREE_CAPACITY } from "@sotto/protocol";
import { assertInteger, assertObject, concatBytes, fail, recode } from "@sotto/protocol/extend";
import { decodeClaim, encodeClaim, type OriginClaim } from "./claim.ts";
import { ZERO_BYTES } from "./head.ts";
import { parseJson } from "./json.ts";

/** A judgement of a deposit: the last one counts, as long as the chain has this deposit at this leaf. */
export interface JudgementEntry {
  /** What it says. */
  readonly type: "accept" | "refuse";
  /** Index of the deposit's note, 0 to 2^30 - 1. */
  readonly leaf: number;
  /** The transaction that made the deposit, 32 bytes. After a reorganization, the leaf may be another deposit. */
  readonly transaction: Bytes32;
}

/** An entry with a claim. */
export interface ClaimEntry {
  /** What it says. */
  readonly type: "claim";
  /** The claim, whose proof the curator verified. */
  readonly claim: OriginClaim;
}

/** An entry of a set's log. */
export type LogEntry = JudgementEntry | ClaimEntry;

/** Maximum size of an entry as a line of the log, bytes. */
export const MAX_ENTRY_BYTES = 1_024;

/** The line of an entry, without the line break. Equal entries have equal lines. */
export function encodeEntry(entry: LogEntry): string {
  if (entry.type === "claim") return JSON.stringify({ type: "claim", ...encodeClaim(entry.claim) });
  const { type, leaf, transaction } = entry;
  return JSON.stringify({ type, ...placeOf(leaf, transaction) });
}

const placeOf = (leaf: unknown, transaction: unknown) => ({
  leaf: assertInteger(leaf, 0, TREE_CAPACITY - 1, "leaf"),
  transaction: bytesToHex(hexToBytes(transaction, 32, "transaction")),
});

/** Inverse of `encodeEntry`: accepts no other spelling of an entry. @throws SottoError INVALID_ARGUMENT */
export function decodeEntry(line: string): LogEntry {
  return recode("INVALID_ARGUMENT", "not an entry of a log", () => {
    if (line.length > MAX_ENTRY_BYTES) fail("INVALID_ARGUMENT", `it has more than ${MAX_ENTRY_BYTES} characters`);
    const entry = entryOf(parseJson(line));
    if (encodeEntry(entry) !== line) fail("INVALID_ARGUMENT", "it is not spelled as the log spells entries");
    return entry;
  });
}

function entryOf(value: unknown): LogEntry {
  assertObject(value, "an entry");
  const { type, leaf, transaction } = value as Record<string, unknown>;
  if (type === "claim") return { type, claim: decodeClaim(value) };
  if (type !== "accept" && type !== "refuse") fail("INVALID_ARGUMENT", "its type must be accept, refuse or claim");
  return { type, ...placeOf(leaf, transaction) };
}

/** The start of the hash chain: its value before the first entry. */
export const LOG_START: Bytes32 = ZERO_BYTES;

/** The hash chain after one more line: SHA-256 of its value before the line, and the line. */
export const chainLine = (before: Bytes32, line: string): Bytes32 =>
  bytesToHex(sha256(concatBytes(hexToBytes(before, 32), utf8ToBytes(line))));
