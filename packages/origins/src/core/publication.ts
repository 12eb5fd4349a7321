// The files that a curator publishes, by their paths below its base URL. Any web server can serve them.
import type { Bytes32 } from "@sotto/protocol";

/** Heads in a pack. A pack that is full never changes. */
export const HEADS_PER_PACK = 128;

/** Entries of the log in a pack. A pack that is full never changes. */
export const ENTRIES_PER_PACK = 1_024;

/** The newest head. */
export const HEAD_PATH = "head.json";

/** Lines of signed heads, oldest first: those with numbers from `pack` * HEADS_PER_PACK on. */
export const headPackPath = (pack: number): string => `heads/${pack}.jsonl`;

/** Lines of the log, oldest first: entries from `pack` * ENTRIES_PER_PACK on. */
export const logPackPath = (pack: number): string => `log/${pack}.jsonl`;

/** The manifest with this SHA-256. */
export const manifestPath = (hash: Bytes32): string => `manifests/${hash.slice(2)}.bin`;

/** The bitmap with this SHA-256. */
export const bitmapPath = (hash: Bytes32): string => `bitmaps/${hash.slice(2)}.bin`;

/** The policy with this SHA-256: JSON text. */
export const policyPath = (hash: Bytes32): string => `policies/${hash.slice(2)}.json`;

/** Takes claims: POST with JSON `{claims: [..]}`, at most MAX_CLAIMS. */
export const CLAIMS_PATH = "claims";

/** Maximum number of claims in one request. */
export const MAX_CLAIMS = 64;
