import { STATUS_CODES } from "node:http";

/** Larger than the answer about a wallet with a key of its own; a contract wallet's signature takes more of them. */
const BLOCK = 2048;

/**
 * Fills an answer with spaces, so that who sees only the sizes of encrypted answers does not learn which numbers are
 * known. The name of the status counts, too: with it every answer has the same length.
 */
export function padded(body: string, status: number): string {
  const rest = STATUS_CODES[status]?.length ?? 0;
  const length = Buffer.byteLength(body) + rest;
  return body + " ".repeat(Math.ceil(length / BLOCK) * BLOCK - length);
}
