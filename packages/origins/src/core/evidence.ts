// Evidence: a file that shows, to anyone whom its owner gives it, that one transaction's money was in a set.
import type { Block, PoolEvent } from "@sotto/chain";
import { type Bytes32, bytesToHex, hexToBytes, WITHDRAWAL_INPUTS } from "@sotto/protocol";
import { assertInteger, assertObject, fail, recode } from "@sotto/protocol/extend";
import { decodeClaim, encodeClaim, type OriginClaim } from "./claim.ts";
import { decodeHead, encodeHead, headDigest, isSigned, type SignedHead } from "./head.ts";
import { parseJson } from "./json.ts";
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
  /** Position of the event that spent the notes among all logs of the block. */
  readonly logIndex: number;
  /** Time of the block, Unix seconds. */
  readonly time: number;
  /** Every note that was spent, one to eight. */
  readonly notes: readonly ShownNote[];
}

/** Evidence as the text of a file: JSON. */
export function encodeEvidence({ notes, ...fields }: OriginEvidence): string {
  const shown = notes.map(({ claim, head, next }) => ({
    claim: encodeClaim(claim),
    head: encodeHead(head),
    ...(next === undefined ? {} : { next: encodeHead(next) }),
  }));
  return `${JSON.stringify({ format: FORMAT, ...fields, notes: shown }, null, 2)}\n`;
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
    const { format, set, transaction, block, logIndex, time, notes } = value as Record<string, unknown>;
    if (format !== FORMAT) fail("INVALID_ARGUMENT", `its format must be "${FORMAT}"`);
    if (!Array.isArray(notes) || notes.length === 0 || notes.length > WITHDRAWAL_INPUTS)
      fail("INVALID_ARGUMENT", `it must have 1 to ${WITHDRAWAL_INPUTS} notes`);
    return {
      set: parseSet(set),
      transaction: bytesToHex(hexToBytes(transaction, 32, "transaction")),
      block: assertInteger(block, 0, Number.MAX_SAFE_INTEGER, "block"),
      logIndex: assertInteger(logIndex, 0, Number.MAX_SAFE_INTEGER, "logIndex"),
      time: assertInteger(time, 1, Number.MAX_SAFE_INTEGER, "time"),
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

/** The chain, from a node that the checker trusts. */
export interface EvidenceChain {
  /** The pool's events in the evidence's block, with its time. */
  readonly events: readonly PoolEvent[];
  /** A block of the chain; undefined if there is none with this number. */
  block(number: number): Promise<Pick<Block, "hash" | "timestamp"> | undefined>;
}

/** What a check of evidence needs. */
export interface EvidenceCheck {
  /** The set that was asked for. The evidence must be of this set, even if it names another. */
  readonly set: OriginSet;
  /** Verifies a claim's proof. False for one that is malformed. */
  verify(claim: OriginClaim): Promise<boolean>;
  /** Undefined to check offline. */
  readonly chain: EvidenceChain | undefined;
}

/**
 * Checks evidence. Offline, it does not show that the event exists and spent these notes at this time, or that the heads are on the
 * chain.
 * @returns what is wrong, as sentences; none if the evidence is right
 */
export async function checkEvidence(evidence: OriginEvidence, check: EvidenceCheck): Promise<string[]> {
  const { notes, time, transaction } = evidence;
  const set = parseSet(check.set);
  const { chain } = check;
  const problems: string[] = [];
  if (setId(evidence.set) !== setId(set)) problems.push(`it is of the set ${setId(evidence.set)}`);
  const nullifiers = new Set(notes.map(({ claim }) => claim.nullifier));
  if (nullifiers.size !== notes.length) problems.push("it shows a note twice");
  for (const [i, note] of notes.entries()) {
    const problem = rootProblem(note, set, time) ?? (chain && (await headProblem(note, chain)));
    if (problem !== undefined) problems.push(`note ${i + 1}: ${problem}`);
    else if (!(await check.verify(note.claim))) problems.push(`note ${i + 1}: its proof does not verify`);
  }
  if (chain === undefined) return problems;
  const event = spendingEvent(evidence, chain.events);
  if (event === undefined) problems.push(`transaction ${transaction} did not spend exactly these notes there`);
  else if (event.timestamp !== time)
    problems.push(`the transaction's block has the time ${event.timestamp}, not ${time}`);
  return problems;
}

/** The event that spent exactly the evidence's notes, at the evidence's place. */
export function spendingEvent(
  { transaction, block, logIndex, notes }: OriginEvidence,
  events: readonly PoolEvent[],
): PoolEvent | undefined {
  const nullifiers = new Set(notes.map(({ claim }) => claim.nullifier));
  return events.find((event) => {
    const shown = nullifiersOf(event);
    const isThere = event.transactionHash === transaction && event.blockNumber === block && event.logIndex === logIndex;
    return isThere && shown.length === nullifiers.size && shown.every((nullifier) => nullifiers.has(nullifier));
  });
}

/** Why a head does not show that the set had the note when it was spent. */
function rootProblem({ claim, head, next }: ShownNote, set: OriginSet, time: number): string | undefined {
  if (setId(head.head) !== setId(set)) return "its head is of another set";
  if (!isSigned(head)) return "its head is not signed by the curator";
  if (claim.maskRoot !== head.head.maskRoot) return "its proof is for another root than its head's";
  const follows =
    next === undefined || (setId(next.head) === setId(set) && next.head.previous === headDigest(head.head));
  if (!follows || (next !== undefined && !isSigned(next))) return "the next head does not follow its head";
  // A payer that leaves the next head out shows only that the root was the newest at its own time.
  const newest = (next ?? head).head.blockTime;
  return newest > time - ROOT_GRACE_SECONDS ? undefined : "its root was replaced before the note was spent";
}

/** The rule about times is about blocks, so the heads' blocks must be on the chain, with these times. */
async function headProblem({ head, next }: ShownNote, chain: EvidenceChain): Promise<string | undefined> {
  for (const { head: each } of next === undefined ? [head] : [head, next]) {
    const block = await chain.block(each.block);
    if (block?.hash !== each.blockHash || block.timestamp !== each.blockTime)
      return `the chain does not have the block of head ${each.number}`;
  }
  return undefined;
}
