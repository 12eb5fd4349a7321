// Reads signed heads from a curator or a mirror of its heads, and checks them.
import { ANONYMOUS, readBody, SottoError } from "@sotto/protocol";
import { MAX_HEAD_BYTES, type OriginHead, type SignedHead } from "../core/head.ts";
import { followProblem, linesOfPack, readHead } from "../core/heads.ts";
import { HEAD_PATH, HEADS_PER_PACK, headPackPath } from "../core/publication.ts";
import type { OriginSet } from "../core/set.ts";
import { OriginHeadError } from "./errors.ts";

const TIMEOUT_MS = 10_000;

/** The newest head that a server shows. @throws OriginHeadError CURATOR_UNREACHABLE, CURATOR_HEAD_INVALID */
export async function readNewest(send: typeof fetch, base: string, set: OriginSet): Promise<SignedHead> {
  const text = await readText(send, `${base}/${HEAD_PATH}`, MAX_HEAD_BYTES);
  return checked(() => readHead(text, set));
}

/**
 * The heads of a pack, oldest first, each the successor of the one before it.
 * @throws OriginHeadError CURATOR_UNREACHABLE, CURATOR_HEAD_INVALID
 */
export async function readPack(send: typeof fetch, base: string, set: OriginSet, pack: number): Promise<SignedHead[]> {
  const text = await readText(send, `${base}/${headPackPath(pack)}`, HEADS_PER_PACK * (MAX_HEAD_BYTES + 1));
  const heads: SignedHead[] = [];
  for (const line of checked(() => linesOfPack(text))) {
    const signed = checked(() => readHead(line, set));
    if (signed.head.number !== pack * HEADS_PER_PACK + heads.length)
      throw new OriginHeadError(
        "CURATOR_HEAD_INVALID",
        `pack ${pack} has head ${signed.head.number} in the wrong place`,
      );
    const before = heads.at(-1);
    if (before !== undefined) assertFollows(before.head, signed.head);
    heads.push(signed);
    // Checking a signature takes a millisecond: a pack of them must not block a server.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return heads;
}

/** Checks that a head is the successor of another one. @throws OriginHeadError CURATOR_HEAD_INVALID */
export function assertFollows(before: OriginHead, head: OriginHead): void {
  const problem = followProblem(before, head);
  if (problem === undefined) return;
  throw new OriginHeadError(
    "CURATOR_HEAD_INVALID",
    `head ${head.number} does not follow head ${before.number}: ${problem}`,
  );
}

function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new OriginHeadError("CURATOR_HEAD_INVALID", cause.message, {}, { cause });
  }
}

async function readText(send: typeof fetch, url: string, maxBytes: number): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await send(url, { ...ANONYMOUS, redirect: "error", signal });
    if (response.status === 200) return new TextDecoder().decode(await readBody(response, maxBytes, signal));
    await response.body?.cancel();
    throw new Error(`it answers ${response.status}`);
  } catch (cause) {
    throw new OriginHeadError(
      "CURATOR_UNREACHABLE",
      `${url} cannot be read: ${(cause as Error).message}`,
      {},
      { cause },
    );
  }
}
