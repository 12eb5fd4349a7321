// Reads the heads of a set from its curator and the mirrors, and says which one may be taken.
import { SottoError } from "@sotto/protocol";
import { contradictEachOther } from "../core/audit.ts";
import {
  decodeHead,
  headDigest,
  MAX_HEAD_BYTES,
  type OriginHead,
  parseHead,
  type SignedHead,
  type WireHead,
} from "../core/head.ts";
import { HEAD_PATH, HEADS_PER_PACK, headPackPath } from "../core/publication.ts";
import { type OriginSet, setId } from "../core/set.ts";
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
  if (last !== undefined && target <= last.head.number) return { next: undefined, seen: newest };
  const next = await walk(access, sources, last, newest, target);
  if (next instanceof Equivocation) return next;
  if (contradictEachOther(next, newest)) return new Equivocation(next, newest);
  for (const [i, mirror] of mirrors.entries()) {
    const same =
      mirrored[i]!.head.number === target
        ? mirrored[i]!
        : await ofMirror(mirror, () => readNumber(access, mirror, set, target));
    if (contradictEachOther(next, same)) return new Equivocation(next, same);
  }
  return { next, seen: newest };
}

/** Reads the heads from the last one to the target, each the successor of the one before it. */
async function walk(
  access: Download,
  { set, url }: HeadSources,
  last: SignedHead | undefined,
  newest: SignedHead,
  target: number,
): Promise<SignedHead | Equivocation> {
  if (newest.head.number === target && (last === undefined || newest.head.previous === headDigest(last.head))) {
    if (last !== undefined) assertFollows(last.head, newest.head);
    return newest;
  }
  let before = last?.head;
  for (let pack = packOf(before?.number ?? target); ; pack += 1) {
    const lines = await readPack(access, url, pack);
    for (const [i, line] of lines.entries()) {
      const number = pack * HEADS_PER_PACK + i;
      if (number < (before?.number ?? target)) continue;
      const head = fieldsOf(line, set, number);
      if (before !== undefined && number === before.number && headDigest(head) !== headDigest(before))
        // The last head again: another one with its number convicts the curator, if it is signed.
        return new Equivocation(last!, signedOf(line, set));
      if (number === target) {
        if (before !== undefined) assertFollows(before, head);
        return signedOf(line, set);
      }
      // A later head signs all earlier ones by its chain, so their signatures need no check.
      if (number > before!.number) assertFollows(before!, head);
      before = head;
    }
    if (lines.length < HEADS_PER_PACK) throw invalid(`the packs of heads at ${url} lack head ${target}`);
  }
}

/**
 * The last head that still has the root of an earlier one, and the head after it: as long as the root stays, it is the newest.
 * @param first number of a head with the root
 * @param newest the newest head that the wallet took, which signs all before it
 * @throws OriginError CURATOR_UNREACHABLE, CURATOR_HEAD_INVALID; the signal's reason
 */
export async function lastHeadWithRoot(
  access: Download,
  { set, url }: Pick<HeadSources, "set" | "url">,
  first: number,
  newest: SignedHead,
): Promise<{ readonly head: SignedHead; readonly next: SignedHead | undefined }> {
  let last: string | undefined;
  let before: OriginHead | undefined;
  for (let pack = packOf(first); pack <= packOf(newest.head.number); pack += 1)
    for (const [i, line] of (await readPack(access, url, pack)).entries()) {
      const number = pack * HEADS_PER_PACK + i;
      if (number < first || number > newest.head.number) continue;
      const head = fieldsOf(line, set, number);
      if (before !== undefined) assertFollows(before, head);
      if (before !== undefined && last !== undefined && head.maskRoot !== before.maskRoot)
        return { head: signedOf(last, set), next: signedOf(line, set) };
      [last, before] = [line, head];
    }
  if (last === undefined || before?.number !== newest.head.number)
    throw invalid(`the packs of heads at ${url} lack head ${newest.head.number}`);
  return { head: signedOf(last, set), next: undefined };
}

const packOf = (number: number): number => Math.floor(number / HEADS_PER_PACK);
const invalid = (message: string, cause?: unknown) => new OriginError("CURATOR_HEAD_INVALID", message, {}, { cause });

async function readNewest(access: Download, base: string, set: OriginSet): Promise<SignedHead> {
  return signedOf(new TextDecoder().decode(await download(access, base, HEAD_PATH, MAX_HEAD_BYTES)), set);
}

async function readPack(access: Download, base: string, pack: number): Promise<string[]> {
  const bytes = await download(access, base, headPackPath(pack), HEADS_PER_PACK * (MAX_HEAD_BYTES + 1));
  const lines = new TextDecoder().decode(bytes).split("\n").filter(Boolean);
  if (lines.length > HEADS_PER_PACK) throw invalid(`pack ${pack} of heads has more than ${HEADS_PER_PACK} lines`);
  return lines;
}

async function readNumber(access: Download, base: string, set: OriginSet, number: number): Promise<SignedHead> {
  const line = (await readPack(access, base, packOf(number)))[number % HEADS_PER_PACK];
  if (line === undefined) throw invalid(`the packs of heads at ${base} lack head ${number}`);
  fieldsOf(line, set, number);
  return signedOf(line, set);
}

/** Checks that a head is the successor of another one. @throws OriginError CURATOR_HEAD_INVALID */
function assertFollows(before: OriginHead, head: OriginHead): void {
  const isNext =
    head.number === before.number + 1 &&
    head.previous === headDigest(before) &&
    head.time > before.time &&
    head.entries >= before.entries;
  if (!isNext) throw invalid(`head ${head.number} does not follow head ${before.number}`);
}

/** The fields of a head whose signature is not checked. */
function fieldsOf(line: string, set: OriginSet, number: number): OriginHead {
  const head = parse(line, set, (wire) => {
    const fields = Object(wire) as WireHead;
    return parseHead({ ...fields, maskRoot: BigInt(String(fields.maskRoot)) } as OriginHead);
  });
  if (head.number !== number) throw invalid(`head ${head.number} is in the place of head ${number}`);
  return head;
}

const signedOf = (text: string, set: OriginSet): SignedHead => {
  let signed: SignedHead | undefined;
  parse(text, set, (wire) => {
    signed = decodeHead(wire);
    return signed.head;
  });
  return signed!;
};

function parse(text: string, set: OriginSet, read: (wire: unknown) => OriginHead): OriginHead {
  let head: OriginHead;
  try {
    head = read(JSON.parse(text));
  } catch (cause) {
    if (!(cause instanceof SottoError) && !(cause instanceof SyntaxError)) throw cause;
    throw invalid(`a head of the set ${set.name} cannot be read: ${cause.message}`, cause);
  }
  if (setId(head) !== setId(set)) throw invalid(`a head is of the set ${setId(head)}, expected ${setId(set)}`);
  return head;
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
