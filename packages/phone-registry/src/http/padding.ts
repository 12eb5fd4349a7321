import { STATUS_CODES } from "node:http";

/** Larger than the response for a non-contract wallet. Signatures of contract wallets may need several blocks. */
const BLOCK = 2048;

/**
 * Pads a response with spaces, so that response sizes do not reveal to an observer of encrypted traffic which numbers
 * are known. The text of the status is included, so that all responses have the same length.
 */
export function padded(body: string, status: number): string {
  const rest = STATUS_CODES[status]?.length ?? 0;
  const length = Buffer.byteLength(body) + rest;
  return body + " ".repeat(Math.ceil(length / BLOCK) * BLOCK - length);
}
