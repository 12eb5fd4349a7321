// Evidence: a file that shows, to anyone whom its owner gives it, that one transaction's money was in a set.
import type { PoolEvent } from "@sotto/chain";
import { type Bytes32, bytesToHex, hexToBytes, WITHDRAWAL_INPUTS } from "@sotto/protocol";
import { assertInteger, assertObject, fail, recode } from "@sotto/protocol/extend";
import { decodeClaim, encodeClaim, type OriginClaim } from "./claim.ts";
import { decodeHead, encodeHead, headDigest, type SignedHead } from "./head.ts";
import { nullifiersOf } from "./nullifiers.ts";
import { ROOT_GRACE_SECONDS } from "./root-history.ts";
import { type OriginSet, parseSet, setId } from "./set.ts";

const FORMAT = "sotto origin evidence 1";

/** Maximum size of an evidence file, bytes. */
export const MAX_EVIDENCE_BYTES = 64 * 1024;

/** The origin of one spent note, and how long its root was the newest. */
export interface ShownNote {
  readonly claim: OriginClaim;
  /** The head that has the claim's root. */
  readonly head: SignedHead;
  /** The head after it; undefined if there was none. */
  readonly next: SignedHead | undefined;
}

/** The evidence for one payment, withdrawal or merge. */
export interface OriginEvidence {
  readonly set: OriginSet;
  /** The transaction that spent the notes, 32 bytes. */
  readonly transaction: Bytes32;
  /** Its block. */
  readonly block: number;
  /** Time of the block, Unix seconds. */
  readonly time: number;
  /** Every note that was spent, one to eight. */
  readonly notes: readonly ShownNote[];
}

/** Evidence as the text of a file: JSON. */
export function encodeEvidence({ set, transaction, block, time, notes }: OriginEvidence): string {
  const shown = notes.map(({ claim, head, next }) => ({
    claim: encodeClaim(claim),
    head: encodeHead(head),
    ...(next === undefined ? {} : { next: encodeHead(next) }),
  }));
  return `${JSON.stringify({ format: FORMAT, set, transaction, block, time, notes: shown }, null, 2)}\n`;
}

/**
 * Inverse of `encodeEvidence`, for a file of another party. Heads are signed by the curators that they name; all else is unchecked.
 * @throws SottoError INVALID_ARGUMENT
 */
export function decodeEvidence(text: string): OriginEvidence {
  return recode("INVALID_ARGUMENT", "not evidence of an origin", () => {
    if (text.length > MAX_EVIDENCE_BYTES) fail("INVALID_ARGUMENT", `it has more than ${MAX_EVIDENCE_BYTES} characters`);
    const value = parseJson(text);
    assertObject(value, "evidence");
    const { format, set, transaction, block, time, notes } = value as Record<string, unknown>;
    if (format !== FORMAT) fail("INVALID_ARGUMENT", `its format must be "${FORMAT}"`);
    if (!Array.isArray(notes) || notes.length === 0 || notes.length > WITHDRAWAL_INPUTS)
      fail("INVALID_ARGUMENT", `it must have 1 to ${WITHDRAWAL_INPUTS} notes`);
    return {
      set: parseSet(set),
      transaction: bytesToHex(hexToBytes(transaction, 32, "transaction")),
      block: assertInteger(block, 0, Number.MAX_SAFE_INTEGER, "block"),
      time: assertInteger(time, 0, Number.MAX_SAFE_INTEGER, "time"),
      notes: notes.map((note: unknown) => {
        assertObject(note, "a note");
        const { claim, head, next } = note as Record<string, unknown>;
        return {
          claim: decodeClaim(claim),
          head: decodeHead(head),
          next: next === undefined ? undefined : decodeHead(next),
        };
      }),
    };
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail("INVALID_ARGUMENT", "it is not JSON");
  }
}

/** What a check of evidence needs. */
export interface EvidenceCheck {
  /** The set that was asked for. The evidence must be of this set, even if it names another. */
  readonly set: OriginSet;
  /** Verifies a claim's proof. False for one that is malformed. */
  verify(claim: OriginClaim): Promise<boolean>;
  /** The pool's events in the evidence's block, from a node that the checker trusts; undefined to check offline. */
  readonly events: readonly PoolEvent[] | undefined;
}

/**
 * Checks evidence. Without events it does not show that the transaction exists and spent these notes at this time.
 * @returns what is wrong, as sentences; none if the evidence is right
 */
export async function checkEvidence(evidence: OriginEvidence, check: EvidenceCheck): Promise<string[]> {
  const { notes, time, transaction } = evidence;
  const problems: string[] = [];
  if (setId(evidence.set) !== setId(check.set)) problems.push(`it is of the set ${setId(evidence.set)}`);
  const nullifiers = new Set(notes.map(({ claim }) => claim.nullifier));
  if (nullifiers.size !== notes.length) problems.push("it shows a note twice");
  for (const [i, note] of notes.entries()) {
    const problem = rootProblem(note, check.set, time);
    if (problem !== undefined) problems.push(`note ${i + 1}: ${problem}`);
    else if (!(await check.verify(note.claim))) problems.push(`note ${i + 1}: its proof does not verify`);
  }
  const { events } = check;
  if (events === undefined) return problems;
  const spent = events.filter((event) => {
    const shown = nullifiersOf(event);
    return (
      event.transactionHash === transaction && shown.length === nullifiers.size && shown.every((n) => nullifiers.has(n))
    );
  });
  if (spent.length === 0) problems.push(`transaction ${transaction} did not spend exactly these notes`);
  else if (!spent.some(({ timestamp }) => timestamp === time))
    problems.push(`the transaction's block has the time ${spent[0]!.timestamp}, not ${time}`);
  return problems;
}

/** Why a head does not show that the set had the note when it was spent. */
function rootProblem({ claim, head: { head }, next }: ShownNote, set: OriginSet, time: number): string | undefined {
  if (setId(head) !== setId(set)) return "its head is of another set";
  if (claim.maskRoot !== head.maskRoot) return "its proof is for another root than its head's";
  if (next !== undefined && (setId(next.head) !== setId(set) || next.head.previous !== headDigest(head)))
    return "the next head does not follow its head";
  // A payer that leaves the next head out shows only that the root was the newest at its own time.
  const newest = next?.head.time ?? head.time;
  return newest > time - ROOT_GRACE_SECONDS ? undefined : "its root was replaced before the note was spent";
}
