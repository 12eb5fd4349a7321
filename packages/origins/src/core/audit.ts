// Anybody can recompute a set from the chain and its log, and compare it with what the curator signed.
import type { Block, PoolEvent } from "@sotto/chain";
import { type Bytes32, type PermuteMany, SottoError } from "@sotto/protocol";
import { countShared } from "./bitmap.ts";
import type { OriginClaim } from "./claim.ts";
import { headDigest, isSigned, type OriginHead, type SignedHead, SLOT_SECONDS } from "./head.ts";
import { chainLine, decodeEntry, LOG_START, type LogEntry } from "./log.ts";
import type { LeafAt } from "./mask-tree.ts";
import { maskFiles } from "./publish.ts";
import { type OriginSet, parseSet, setId } from "./set.ts";
import { SetState } from "./set-state.ts";

/** What a head contradicts. */
export type AuditCode =
  /** It names another head before it than the one that was signed. */
  | "OTHER_PREVIOUS"
  /** Its time, its block or its log is not later than that of the head before it. */
  | "GOES_BACK"
  /** Its block has another time, or the head's own time is before it. */
  | "WRONG_TIME"
  /** The pool's tree has another number of leaves at its block. */
  | "WRONG_LEAVES"
  /** Its log has another number of claims. */
  | "WRONG_COUNT"
  /** An entry of its log is malformed. */
  | "WRONG_ENTRY"
  /** The proof of a claim in its log does not verify. */
  | "WRONG_PROOF"
  /** The mask tree that follows from chain and log has another root. */
  | "WRONG_MASK"
  /** The published bitmaps are not those of the mask tree. */
  | "WRONG_MANIFEST";

/** Something that a curator signed and that is false. */
export interface Contradiction {
  /** What is contradicted. */
  readonly code: AuditCode;
  /** Number of the head that says it. */
  readonly head: number;
  /** What is contradicted, as a sentence. */
  readonly says: string;
}

/** What an audit reads. The chain's part must come from a node that the auditor trusts; heads and lines may come from anybody. */
export interface AuditSource {
  /** All heads, oldest first. */
  readonly heads: Iterable<SignedHead> | AsyncIterable<SignedHead>;
  /** All lines of the log, oldest first. */
  readonly lines: Iterable<string> | AsyncIterable<string>;
  /** The pool's events in the order of the chain, with the times of their blocks. */
  readonly events: readonly PoolEvent[];
  /** The last block that the events cover. */
  readonly lastBlock: number;
  /** The pool's leaves, by index. */
  readonly leafAt: LeafAt;
  /** A block of the chain; undefined if there is none with this number. */
  block(number: number): Promise<Pick<Block, "hash" | "timestamp"> | undefined>;
  /** Verifies a claim's proof, such as `verifyClaim` of @sotto/origins/evidence. False for one that is malformed. */
  verify(claim: OriginClaim): Promise<boolean>;
  /** See `MaskTree`. */
  readonly permutation?: PermuteMany | undefined;
}

/** The result of an audit. */
export interface AuditReport {
  /** Number of heads that were checked. */
  readonly heads: number;
  /** How many of them are on blocks that are no longer on the chain: nobody can recompute their masks, and their roots count for nothing. */
  readonly orphaned: number;
  /** Number of entries of the log that these heads cover. */
  readonly entries: number;
  /** How many of them are claims, each with its proof verified. */
  readonly claims: number;
  /** Leaves in the set at the last of these heads that is on the chain. */
  readonly members: number;
  /** What the curator signed and is false. The audit ends with the first head that contradicts something. */
  readonly contradictions: readonly Contradiction[];
  /** Why the audit ended before the last head, although nothing is false: what was read is incomplete. */
  readonly unfinished: string | undefined;
}

/**
 * Recomputes a set head by head.
 * @throws SottoError INVALID_ARGUMENT, INVALID_ADDRESS if the set is malformed; the errors of the source
 */
export async function auditSet(set: OriginSet, source: AuditSource): Promise<AuditReport> {
  const audit = new Audit(parseSet(set), source);
  try {
    for await (const signed of source.heads) {
      await audit.check(signed);
      if (audit.contradictions.length > 0) break;
    }
  } catch (error) {
    if (error instanceof Incomplete) return audit.report(error.message);
    throw error;
  }
  return audit.report(undefined);
}

/** What was read does not suffice, which may be the fault of a mirror or a node. */
class Incomplete extends Error {}

class Audit {
  readonly contradictions: Contradiction[] = [];
  readonly #set: OriginSet;
  readonly #source: AuditSource;
  readonly #state: SetState;
  readonly #lines: AsyncIterator<string> | Iterator<string>;
  #previous: OriginHead | undefined;
  /** The last head that is on the chain. */
  #anchored: OriginHead | undefined;
  #events = 0;
  #leaves = 0;
  #entries = 0;
  #log: Bytes32 = LOG_START;
  #counts = { heads: 0, orphaned: 0 };

  constructor(set: OriginSet, source: AuditSource) {
    const { lines, leafAt, permutation } = source;
    this.#set = set;
    this.#source = source;
    this.#state = new SetState(leafAt, permutation);
    this.#lines = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
  }

  report(unfinished: string | undefined): AuditReport {
    const leaves = this.#anchored?.leaves ?? 0;
    const chunks = this.#state.mask.upTo(leaves).chunks(leaves);
    const members = chunks.reduce((total, { bitmap }) => total + countShared([bitmap]), 0);
    const { contradictions } = this;
    const { claims } = this.#state;
    return { ...this.#counts, entries: this.#entries, claims, members, contradictions, unfinished };
  }

  /** @throws Incomplete */
  async check(signed: SignedHead): Promise<void> {
    const { head } = signed;
    const contradict = (code: AuditCode, says: string) => this.contradictions.push({ code, head: head.number, says });
    if (setId(head) !== setId(this.#set)) throw new Incomplete(`a head is of the set ${setId(head)}`);
    if (!isSigned(signed)) throw new Incomplete(`the signature of head ${head.number} is not the curator's`);
    if (head.number !== (this.#previous?.number ?? -1) + 1)
      throw new Incomplete(`head ${head.number} came out of turn`);
    const lines = await this.#readLines(head);
    const block = await this.#source.block(head.block);
    if (block === undefined && head.block > this.#source.lastBlock)
      throw new Incomplete(`the chain was not read up to block ${head.block} of head ${head.number}`);
    const isOnChain = block?.hash === head.blockHash;
    this.#compareOrder(head, isOnChain, contradict);
    if (this.contradictions.length > 0) return;
    if (isOnChain) this.#readEvents(head);
    else this.#counts.orphaned += 1;
    await this.#apply(lines, contradict);
    if (this.contradictions.length === 0 && head.claims !== this.#state.claims)
      contradict("WRONG_COUNT", `its log has ${this.#state.claims} claims, not ${head.claims}`);
    if (isOnChain) {
      this.#compareChain(head, block.timestamp, contradict);
      this.#anchored = head;
    }
    this.#state.addHead(head, isOnChain);
    this.#previous = head;
    this.#counts.heads += 1;
  }

  /** The lines that a head adds. The curator signed them, or they say nothing about it. @throws Incomplete */
  async #readLines(head: OriginHead): Promise<string[]> {
    const lines: string[] = [];
    let log = this.#log;
    while (this.#entries + lines.length < head.entries) {
      const next = await this.#lines.next();
      if (next.done === true)
        throw new Incomplete(
          `the log has ${this.#entries + lines.length} entries, and head ${head.number} covers ${head.entries}`,
        );
      lines.push(next.value);
      log = chainLine(log, next.value);
    }
    if (head.entries >= this.#entries && log !== head.log)
      throw new Incomplete(`the log's lines are not those that head ${head.number} signs`);
    this.#log = log;
    this.#entries += lines.length;
    return lines;
  }

  #compareOrder(head: OriginHead, isOnChain: boolean, contradict: (code: AuditCode, says: string) => void): void {
    const previous = this.#previous;
    if (previous === undefined) return;
    if (head.previous !== headDigest(previous))
      contradict("OTHER_PREVIOUS", `it names ${head.previous} as the head before it, and the curator signed another`);
    else if (head.time <= previous.time)
      contradict("GOES_BACK", `its time ${head.time} is not after that of the head before it`);
    else if (head.entries < previous.entries)
      contradict("GOES_BACK", "its log has fewer entries than the head before it");
    else if (isOnChain && head.block < (this.#anchored?.block ?? 0))
      contradict("GOES_BACK", `its block ${head.block} is before that of an earlier head`);
  }

  #readEvents({ number, block }: OriginHead): void {
    const { events, lastBlock } = this.#source;
    if (block > lastBlock)
      throw new Incomplete(`the pool's events were not read up to block ${block} of head ${number}`);
    const start = this.#events;
    while (this.#events < events.length && events[this.#events]!.blockNumber <= block) {
      const event = events[this.#events]!;
      if (event.type === "appended") this.#leaves = event.startIndex + event.count;
      this.#events += 1;
    }
    this.#state.addEvents(events.slice(start, this.#events));
  }

  async #apply(lines: readonly string[], contradict: (code: AuditCode, says: string) => void): Promise<void> {
    const first = this.#entries - lines.length;
    for (const [i, line] of lines.entries()) {
      const entry = readEntry(line);
      if (entry === undefined) contradict("WRONG_ENTRY", `entry ${first + i} is malformed`);
      else if (entry.type === "claim" && !(await this.#source.verify(entry.claim)))
        contradict("WRONG_PROOF", `the proof of the claim in entry ${first + i} does not verify`);
      if (entry === undefined || this.contradictions.length > 0) return;
      this.#state.apply(entry);
    }
  }

  #compareChain(head: OriginHead, time: number, contradict: (code: AuditCode, says: string) => void): void {
    if (this.contradictions.length > 0) return;
    if (head.blockTime !== time)
      contradict("WRONG_TIME", `block ${head.block} has the time ${time}, not ${head.blockTime}`);
    else if (head.time <= time - SLOT_SECONDS)
      contradict("WRONG_TIME", `its time ${head.time} is before that of its block, ${time}`);
    else if (head.leaves !== this.#leaves)
      contradict(
        "WRONG_LEAVES",
        `the pool's tree has ${this.#leaves} leaves at block ${head.block}, not ${head.leaves}`,
      );
    if (this.contradictions.length > 0) return;
    const { maskRoot, manifest } = maskFiles(this.#state.mask, head.leaves);
    if (maskRoot !== head.maskRoot) contradict("WRONG_MASK", `the mask root that follows is ${maskRoot}`);
    else if (manifest !== head.manifest) contradict("WRONG_MANIFEST", "its manifest is not that of the mask tree");
  }
}

function readEntry(line: string): LogEntry | undefined {
  try {
    return decodeEntry(line);
  } catch (error) {
    if (error instanceof SottoError) return undefined;
    throw error;
  }
}

/**
 * Whether two heads show that a curator told two stories: it signed both, they are of one set, differ, and have one number or
 * one time.
 */
export const contradictEachOther = (one: SignedHead, other: SignedHead): boolean =>
  setId(one.head) === setId(other.head) &&
  headDigest(one.head) !== headDigest(other.head) &&
  (one.head.number === other.head.number || one.head.time === other.head.time) &&
  isSigned(one) &&
  isSigned(other);
