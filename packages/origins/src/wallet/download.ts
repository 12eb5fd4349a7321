import type { Bytes32 } from "@sotto/protocol";
import { exchange } from "@sotto/wallet";
import { sha256Hex } from "../core/manifest.ts";
import { OriginError } from "./errors.ts";

const TIMEOUT_MS = 30_000;

/** How files of a set are read. */
export interface Download {
  readonly send: typeof fetch;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a file below a base URL.
 * @param maxBytes the answer is not read beyond
 * @throws OriginError CURATOR_UNREACHABLE; the signal's reason
 */
export async function download(
  { send, signal }: Download,
  base: string,
  path: string,
  maxBytes: number,
): Promise<Uint8Array> {
  const name = `${base}/${path}`;
  const limits = { name, maxBytes, timeoutMs: TIMEOUT_MS, signal };
  const failed = (_: string, text: string, cause: unknown) =>
    new OriginError("CURATOR_UNREACHABLE", text, {}, { cause });
  const { status, body } = await exchange(send, name, {}, limits, failed);
  if (status !== 200) throw new OriginError("CURATOR_UNREACHABLE", `${name} answers ${status}, expected 200`);
  return body;
}

/** Reads a file that is named by its hash. @throws OriginError CURATOR_UNREACHABLE, CURATOR_FILE_WRONG; the signal's reason */
export async function downloadHashed(
  access: Download,
  base: string,
  path: string,
  hash: Bytes32,
  bytes: number,
): Promise<Uint8Array> {
  const body = await download(access, base, path, bytes);
  if (sha256Hex(body) === hash) return body;
  throw new OriginError("CURATOR_FILE_WRONG", `${base}/${path} has another SHA-256 than its name says`);
}
