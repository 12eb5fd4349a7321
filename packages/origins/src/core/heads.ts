// Rows of signed heads, as curators and mirrors publish them.
import { fail, recode } from "@sotto/protocol/extend";
import { decodeHead, decodeHeadFields, headDigest, type OriginHead, type SignedHead } from "./head.ts";
import { parseJson } from "./json.ts";
import { HEADS_PER_PACK } from "./publication.ts";
import { type OriginSet, setId } from "./set.ts";

/** Maximum milliseconds by which a head may be dated ahead of its reader's clock: it would keep older roots good for longer. */
export const MAX_HEAD_LEAD_MS = 600_000;

/** The pack with a head. */
export const packOf = (number: number): number => Math.floor(number / HEADS_PER_PACK);

/** The lines of a pack, oldest first. @throws SottoError INVALID_ARGUMENT if there are too many */
export function linesOfPack(text: string): string[] {
  const lines = text.split("\n").filter((line) => line !== "");
  if (lines.length > HEADS_PER_PACK)
    fail("INVALID_ARGUMENT", `a pack of heads has at most ${HEADS_PER_PACK} lines, got ${lines.length}`);
  return lines;
}

/** A signed head of a set. @throws SottoError INVALID_ARGUMENT also if it is of another set, or its curator did not sign it */
export const readHead = (line: string, set: OriginSet): SignedHead =>
  read(set, () => {
    const signed = decodeHead(parseJson(line));
    assertSet(signed.head, set);
    return signed;
  });

/**
 * A head of a set whose signature is not checked: a later head signs it by its digest, or it is from an own store.
 * @param number its number, from its place in a pack; undefined for any
 * @throws SottoError INVALID_ARGUMENT
 */
export const readHeadFields = (line: string, set: OriginSet, number?: number): OriginHead =>
  read(set, () => {
    const head = decodeHeadFields(parseJson(line));
    assertSet(head, set);
    if (number !== undefined && head.number !== number)
      fail("INVALID_ARGUMENT", `head ${head.number} is in the place of head ${number}`);
    return head;
  });

const read = <T>({ name }: OriginSet, action: () => T): T =>
  recode("INVALID_ARGUMENT", `a head of the set ${name} cannot be read`, action);

function assertSet(head: OriginHead, set: OriginSet): void {
  if (setId(head) !== setId(set)) fail("INVALID_ARGUMENT", `it is of the set ${setId(head)}`);
}

/** Why a head is not the successor of another one; undefined if it is. */
export function followProblem(before: OriginHead, head: OriginHead): string | undefined {
  if (head.number !== before.number + 1) return "it has another number than the next one";
  if (head.previous !== headDigest(before)) return "it names another head before it";
  if (head.time <= before.time) return "it is not later";
  return head.entries < before.entries ? "its log is shorter" : undefined;
}
