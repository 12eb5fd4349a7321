import { createWriteStream, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError } from "@sotto/command/command";
import { blake2bFile } from "./ptau.ts";

/** Called with the bytes received so far, and the total if the server sends its length. */
export type Progress = (bytes: number, total: number | undefined) => void;

const failed = (url: string, why: string, cause?: unknown): CommandError =>
  new CommandError("DOWNLOAD_FAILED", `${url}: ${why}; run the same command again to resume`, { cause });

async function request(url: string, from: number): Promise<Response> {
  try {
    return await fetch(url, from === 0 ? {} : { headers: { range: `bytes=${from}-` } });
  } catch (cause) {
    throw failed(url, "no response", cause);
  }
}

/** Size in bytes of what earlier runs have downloaded. */
const sizeOf = (part: string): number => (existsSync(part) ? statSync(part).size : 0);

/**
 * Downloads to `to`.part, resuming an interrupted download, and renames the file after checking its hash.
 * @param blake2b expected BLAKE2b-512, hex
 * @throws CommandError DOWNLOAD_FAILED; PTAU_UNKNOWN, after deleting a file with another hash
 */
export async function download(url: string, to: string, blake2b: string, progress: Progress = () => {}): Promise<void> {
  if (existsSync(to) && (await blake2bFile(to)) === blake2b) return;
  const part = `${to}.part`;
  let start = sizeOf(part);
  const response = await request(url, start);
  // 416: the partial file is complete. A server without range support sends the whole file again.
  const complete = start > 0 && response.status === 416;
  if (!complete && !response.ok) throw failed(url, `status ${response.status}`);
  if (response.status !== 206 && !complete) start = 0;
  if (!complete) await receive(response, url, part, start, progress);
  else await response.body?.cancel();
  const found = await blake2bFile(part);
  if (found !== blake2b) {
    rmSync(part);
    throw new CommandError(
      "PTAU_UNKNOWN",
      `${url} has BLAKE2b ${found}, expected ${blake2b}; the download was deleted`,
    );
  }
  renameSync(part, to);
}

async function receive(
  response: Response,
  url: string,
  part: string,
  start: number,
  progress: Progress,
): Promise<void> {
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  const total = Number.isFinite(length) ? start + length : undefined;
  let bytes = start;
  const count = new Transform({
    transform(chunk: Uint8Array, _, done) {
      bytes += chunk.byteLength;
      progress(bytes, total);
      done(null, chunk);
    },
  });
  if (response.body === null) throw failed(url, "the response is empty");
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  try {
    await pipeline(body, count, createWriteStream(part, { flags: start === 0 ? "w" : "a" }));
  } catch (cause) {
    throw failed(url, `ended after ${bytes} bytes`, cause);
  }
  if (total !== undefined && bytes !== total) throw failed(url, `ended after ${bytes} of ${total} bytes`);
}
