// Reads signed heads from a curator or a mirror of its heads, and checks them.
import { readBody, SottoError } from "@sotto/protocol";
import { decodeHead, headDigest, MAX_HEAD_BYTES, type OriginHead, type SignedHead } from "../core/head.ts";
import { HEAD_PATH, HEADS_PER_PACK, headPackPath } from "../core/publication.ts";
import { type OriginSet, setId } from "../core/set.ts";
import { OriginHeadError } from "./errors.ts";

const TIMEOUT_MS = 10_000;

/** The newest head that a server shows. @throws OriginHeadError CURATOR_UNREACHABLE, CURATOR_HEAD_INVALID */
export async function readNewest(send: typeof fetch, base: string, set: OriginSet): Promise<SignedHead> {
  return parseLine(await readText(send, `${base}/${HEAD_PATH}`, MAX_HEAD_BYTES), set);
}

/**
 * The heads of a pack, oldest first, each the successor of the one before it.
 * @throws OriginHeadError CURATOR_UNREACHABLE, CURATOR_HEAD_INVALID
 */
export async function readPack(send: typeof fetch, base: string, set: OriginSet, pack: number): Promise<SignedHead[]> {
  const text = await readText(send, `${base}/${headPackPath(pack)}`, HEADS_PER_PACK * (MAX_HEAD_BYTES + 1));
  const lines = text.split("\n").filter((line) => line !== "");
  if (lines.length > HEADS_PER_PACK)
    throw new OriginHeadError("CURATOR_HEAD_INVALID", `pack ${pack} of heads has more than ${HEADS_PER_PACK} lines`);
  const heads: SignedHead[] = [];
  for (const line of lines) {
    const signed = parseLine(line, set);
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
  const problem =
    head.number !== before.number + 1
      ? "has another number than the next one"
      : head.previous !== headDigest(before)
        ? "names another head before it"
        : head.time <= before.time
          ? "is not later"
          : undefined;
  if (problem !== undefined)
    throw new OriginHeadError(
      "CURATOR_HEAD_INVALID",
      `head ${head.number} does not follow head ${before.number}: it ${problem}`,
    );
}

function parseLine(line: string, set: OriginSet): SignedHead {
  try {
    const signed = decodeHead(JSON.parse(line));
    if (setId(signed.head) === setId(set)) return signed;
  } catch (cause) {
    if (!(cause instanceof SottoError) && !(cause instanceof SyntaxError)) throw cause;
    throw new OriginHeadError("CURATOR_HEAD_INVALID", `a head of the set ${set.name} cannot be read`, {}, { cause });
  }
  throw new OriginHeadError("CURATOR_HEAD_INVALID", `a head is of another set than ${setId(set)}`);
}

async function readText(send: typeof fetch, url: string, maxBytes: number): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await send(url, { redirect: "error", credentials: "omit", signal });
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
