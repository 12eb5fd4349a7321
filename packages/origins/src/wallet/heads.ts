// Reads the heads of a set from its curator and the mirrors, and says which one may be taken.
import { SottoError } from "@sotto/protocol";
import { contradictEachOther } from "../core/audit.ts";
import { headDigest, MAX_HEAD_BYTES, type OriginHead, type SignedHead } from "../core/head.ts";
import { followProblem, linesOfPack, packOf, readHead, readHeadFields } from "../core/heads.ts";
import { HEAD_PATH, HEADS_PER_PACK, headPackPath } from "../core/publication.ts";
import type { OriginSet } from "../core/set.ts";
import { type Download, download } from "./download.ts";
import { OriginError } from "./errors.ts";

/** Where a set's heads are read. */
export interface HeadSources {
  readonly set: OriginSet;
  readonly url: string;
  readonly mirrors: readonly string[];
}

/** Two heads that convict their curator. */
export class Equivocation {
  readonly heads: readonly [SignedHead, SignedHead];

  constructor(a: SignedHead, b: SignedHead) {
    this.heads = [a, b];
  }
}

/** What the curator and its mirrors show. */
export type HeadsNow =
  | Equivocation
  | {
      /** The newest head that all show; undefined if it is not newer than the last one. */
      readonly next: SignedHead | undefined;
      /** Time of the block of the first head after the last one that has another root, seconds; undefined if none has. */
      readonly replacedAt: number | undefined;
      /** The newest head that the curator shows. */
      readonly seen: SignedHead;
    };

/**
 * Reads the newest head that the curator and all mirrors show.
 * @param last the last head that was taken; undefined before the first one
 * @param seen the newest head that the curator showed before
 * @throws OriginError CURATOR_UNREACHABLE, CURATOR_HEAD_INVALID, CURATOR_WENT_BACK, ORIGIN_MIRROR_FAILED; the signal's reason
 */
export async function readHeads(
  access: Download,
  sources: HeadSources,
  last: SignedHead | undefined,
  seen: SignedHead | undefined,
): Promise<HeadsNow> {
  const { set, url, mirrors } = sources;
  const newest = await readNewest(access, url, set);
  const known = [last, seen].filter((head) => head !== undefined);
  const mirrored: SignedHead[] = [];
  for (const mirror of mirrors) mirrored.push(await ofMirror(mirror, () => readNewest(access, mirror, set)));
  for (const head of [newest, ...mirrored])
    for (const other of [...known, newest]) if (contradictEachOther(head, other)) return new Equivocation(other, head);
  const floor = Math.max(-1, ...known.map(({ head }) => head.number));
  if (newest.head.number < floor)
    throw new OriginError(
      "CURATOR_WENT_BACK",
      `the curator shows head ${newest.head.number}, and showed head ${floor} before`,
    );
  const target = Math.min(newest.head.number, ...mirrored.map(({ head }) => head.number));
  if (last !== undefined && target <= last.head.number) return { next: undefined, replacedAt: undefined, seen: newest };
  const walked = await walk(access, sources, { last, seen }, newest, target);
  if (walked instanceof Equivocation) return walked;
  const { next } = walked;
  if (contradictEachOther(next, newest)) return new Equivocation(next, newest);
  for (const [i, mirror] of mirrors.entries()) {
    const same =
      mirrored[i]!.head.number === target
        ? mirrored[i]!
        : await ofMirror(mirror, () => readNumber(access, mirror, set, target));
    if (contradictEachOther(next, same)) return new Equivocation(next, same);
  }
  return { ...walked, seen: newest };
}

/** The head to take, and when the root of the last one was replaced. */
interface Walked {
  readonly next: SignedHead;
  readonly replacedAt: number | undefined;
}

/** Reads the heads from the last one to the target, each the successor of the one before it. */
async function walk(
  access: Download,
  { set, url }: HeadSources,
  { last, seen }: { readonly last: SignedHead | undefined; readonly seen: SignedHead | undefined },
  newest: SignedHead,
  target: number,
): Promise<Walked | Equivocation> {
  if (last === undefined)
    return {
      next: newest.head.number === target ? newest : await readNumber(access, url, set, target),
      replacedAt: undefined,
    };
  let before = last.head;
  let replacedAt: number | undefined;
  const pass = (head: OriginHead): void => {
    assertFollows(before, head);
    if (head.maskRoot !== last.head.maskRoot) replacedAt ??= head.blockTime;
    before = head;
  };
  if (newest.head.number === target && newest.head.previous === headDigest(last.head)) {
    pass(newest.head);
    return { next: newest, replacedAt };
  }
  for (let pack = packOf(last.head.number); ; pack += 1) {
    const lines = await readPack(access, url, pack);
    for (const [i, line] of lines.entries()) {
      const number = pack * HEADS_PER_PACK + i;
      if (number < last.head.number) continue;
      const head = checked(() => readHeadFields(line, set, number));
      // A head that the wallet knows, again: another one with its number convicts the curator, if it is signed.
      for (const known of [last, seen])
        if (known?.head.number === number && headDigest(head) !== headDigest(known.head))
          return new Equivocation(
            known,
            checked(() => readHead(line, set)),
          );
      // A later head signs all earlier ones by its chain, so their signatures need no check.
      if (number > before.number) pass(head);
      if (number === target) return { next: checked(() => readHead(line, set)), replacedAt };
    }
    if (lines.length < HEADS_PER_PACK) throw invalid(`the packs of heads at ${url} lack head ${target}`);
  }
}

/**
 * The last head on the chain that has a root, and the head after it if that is on the chain too: as long as the root stays, it is the
 * newest.
 * @param first number of a head with the root
 * @param newest the newest head that the wallet took, which signs all before it
 * @param isOnChain whether the chain has a head's block
 * @throws OriginError CURATOR_UNREACHABLE, CURATOR_HEAD_INVALID; the signal's reason
 */
export async function lastHeadWithRoot(
  access: Download,
  { set, url }: Pick<HeadSources, "set" | "url">,
  { first, maskRoot, newest }: { readonly first: number; readonly maskRoot: bigint; readonly newest: SignedHead },
  isOnChain: (head: OriginHead) => Promise<boolean>,
): Promise<{ readonly head: SignedHead; readonly next: SignedHead | undefined }> {
  const last = newest.head.number;
  const rows: { readonly line: string; readonly head: OriginHead }[] = [];
  for (let pack = packOf(first); pack <= packOf(last); pack += 1)
    for (const [i, line] of (await readPack(access, url, pack)).entries()) {
      const number = pack * HEADS_PER_PACK + i;
      if (number < first || number > last) continue;
      const head = checked(() => readHeadFields(line, set, number));
      const before = rows.at(-1);
      if (before !== undefined) assertFollows(before.head, head);
      rows.push({ line, head });
    }
  if (rows.length !== last - first + 1) throw invalid(`the packs of heads at ${url} lack heads up to ${last}`);
  for (let i = rows.length - 1; i >= 0; i -= 1) {
    const { line, head } = rows[i]!;
    if (head.maskRoot !== maskRoot || !(await isOnChain(head))) continue;
    const after = rows[i + 1];
    const next = after !== undefined && (await isOnChain(after.head)) ? after : undefined;
    return {
      head: checked(() => readHead(line, set)),
      next: next && checked(() => readHead(next.line, set)),
    };
  }
  throw invalid(`no head of the set ${set.name} on the chain has the root that was shown`);
}

const invalid = (message: string, cause?: unknown) => new OriginError("CURATOR_HEAD_INVALID", message, {}, { cause });

function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalid(cause.message, cause);
  }
}

async function readNewest(access: Download, base: string, set: OriginSet): Promise<SignedHead> {
  const text = new TextDecoder().decode(await download(access, base, HEAD_PATH, MAX_HEAD_BYTES));
  return checked(() => readHead(text, set));
}

async function readPack(access: Download, base: string, pack: number): Promise<string[]> {
  const bytes = await download(access, base, headPackPath(pack), HEADS_PER_PACK * (MAX_HEAD_BYTES + 1));
  return checked(() => linesOfPack(new TextDecoder().decode(bytes)));
}

async function readNumber(access: Download, base: string, set: OriginSet, number: number): Promise<SignedHead> {
  const line = (await readPack(access, base, packOf(number)))[number % HEADS_PER_PACK];
  if (line === undefined) throw invalid(`the packs of heads at ${base} lack head ${number}`);
  checked(() => readHeadFields(line, set, number));
  return checked(() => readHead(line, set));
}

/** Checks that a head is the successor of another one. @throws OriginError CURATOR_HEAD_INVALID */
function assertFollows(before: OriginHead, head: OriginHead): void {
  const problem = followProblem(before, head);
  if (problem !== undefined) throw invalid(`head ${head.number} does not follow head ${before.number}: ${problem}`);
}

/** A mirror that fails delays the head; it says nothing about the curator. */
async function ofMirror(mirror: string, read: () => Promise<SignedHead>): Promise<SignedHead> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof OriginError)) throw cause;
    throw new OriginError(
      "ORIGIN_MIRROR_FAILED",
      `the mirror ${mirror} does not show the heads: ${cause.message}`,
      { mirror },
      { cause },
    );
  }
}
