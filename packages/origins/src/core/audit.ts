// Anybody can recompute a set from the chain and its log, and compare it with what the curator signed.
import type { PoolEvent } from "@sotto/chain";
import { type Bytes32, type PermuteMany, SottoError } from "@sotto/protocol";
import { countShared } from "./bitmap.ts";
import type { OriginClaim } from "./claim.ts";
import { headDigest, type OriginHead, type SignedHead } from "./head.ts";
import { chainLine, decodeEntry, LOG_START, type LogEntry } from "./log.ts";
import { encodeManifest, sha256Hex } from "./manifest.ts";
import type { LeafAt } from "./mask-tree.ts";
import { type OriginSet, setId } from "./set.ts";
import { SetState } from "./set-state.ts";

/** What a head or an entry contradicts. */
export type AuditCode =
  /** The head is of another set. */
  | "OTHER_SET"
  /** Its number or the head before it does not continue the heads. */
  | "HEADS_BROKEN"
  /** Its time or its log is not later than that of the head before it. */
  | "GOES_BACK"
  /** The pool's tree has another number of leaves at its block. */
  | "WRONG_LEAVES"
  /** The log is shorter than it says, or its hash chain has another value. */
  | "WRONG_LOG"
  /** An entry is malformed, or the rules do not allow it there. */
  | "WRONG_ENTRY"
  /** A claim's proof does not verify. */
  | "WRONG_PROOF"
  /** The mask tree that follows from chain and log has another root. */
  | "WRONG_MASK"
  /** The published bitmaps are not those of the mask tree. */
  | "WRONG_MANIFEST";

/** Something that a curator signed and that is false. */
export interface Contradiction {
  readonly code: AuditCode;
  /** Number of the head that says it. */
  readonly head: number;
  /** What is contradicted, as a sentence. */
  readonly says: string;
}

/** What an audit reads. The chain's part must come from a node that the auditor trusts. */
export interface AuditSource {
  /** All heads, oldest first. */
  readonly heads: Iterable<SignedHead> | AsyncIterable<SignedHead>;
  /** All lines of the log, oldest first. */
  readonly lines: readonly string[];
  /** The pool's events in the order of the chain, with the times of their blocks. */
  readonly events: readonly PoolEvent[];
  /** The pool's leaves, by index. */
  readonly leafAt: LeafAt;
  /** Hash of a block of the chain; undefined if the chain has no such block. */
  blockHash(number: number): Promise<string | undefined>;
  /** Verifies a claim's proof, such as `verifyClaim` of @sotto/origins/evidence. False for one that is malformed. */
  verify(claim: OriginClaim): Promise<boolean>;
  /** See `MaskTree`. */
  readonly permutation?: PermuteMany | undefined;
}

/** The result of an audit. */
export interface AuditReport {
  /** Number of heads that were read. */
  readonly heads: number;
  /** How many of them are on blocks that are no longer on the chain: their masks cannot be recomputed. */
  readonly orphaned: number;
  /** Number of entries of the log that heads cover. */
  readonly entries: number;
  /** How many of them are claims, each with its proof verified. */
  readonly claims: number;
  /** Leaves in the set at the newest head. */
  readonly members: number;
  /** What is false. The audit ends with the first head that contradicts something. */
  readonly contradictions: readonly Contradiction[];
}

/**
 * Recomputes a set head by head.
 * @throws the errors of the source
 */
export async function auditSet(set: OriginSet, source: AuditSource): Promise<AuditReport> {
  const audit = new Audit(set, source);
  for await (const { head } of source.heads) {
    await audit.check(head);
    if (audit.contradictions.length > 0) break;
  }
  return audit.report();
}

class Audit {
  readonly contradictions: Contradiction[] = [];
  readonly #set: OriginSet;
  readonly #source: AuditSource;
  readonly #state: SetState;
  #previous: OriginHead | undefined;
  /** Where the log says that the chain was reorganized. */
  readonly #reorgs: readonly { readonly entry: number; readonly leaf: number }[];
  #events = 0;
  #leaves = 0;
  #entries = 0;
  #log: Bytes32 = LOG_START;
  #counts = { heads: 0, orphaned: 0, claims: 0 };

  constructor(set: OriginSet, source: AuditSource) {
    this.#set = set;
    this.#source = source;
    this.#state = new SetState(source.leafAt, source.permutation);
    this.#reorgs = [...source.lines.entries()].flatMap(([entry, line]) => {
      const read = line.startsWith('{"type":"reorg"') ? readEntry(line) : undefined;
      return read?.type === "reorg" ? [{ entry, leaf: read.leaf }] : [];
    });
  }

  report(): AuditReport {
    const bitmaps = this.#state.mask.upTo(this.#leaves).chunks(this.#leaves);
    const members = bitmaps.reduce((total, { bitmap }) => total + countShared([bitmap]), 0);
    return { ...this.#counts, entries: this.#entries, members, contradictions: this.contradictions };
  }

  async check(head: OriginHead): Promise<void> {
    const contradict = (code: AuditCode, says: string) => this.contradictions.push({ code, head: head.number, says });
    this.#counts.heads += 1;
    if (setId(head) !== setId(this.#set)) contradict("OTHER_SET", `it is of the set ${setId(head)}`);
    const previous = this.#previous;
    const continues =
      previous === undefined
        ? head.number === 0
        : head.number === previous.number + 1 && head.previous === headDigest(previous);
    if (!continues) contradict("HEADS_BROKEN", "it does not follow the head before it");
    if (previous !== undefined && head.time <= previous.time)
      contradict("GOES_BACK", `its time ${head.time} is not after that of the head before it`);
    if (head.entries < this.#entries) contradict("GOES_BACK", `its log has fewer entries than the head before it`);
    if (this.contradictions.length > 0) return;
    const orphaned = (await this.#source.blockHash(head.block)) !== head.blockHash;
    if (orphaned) this.#counts.orphaned += 1;
    else this.#readTo(head.block);
    await this.#readLog(head, orphaned, contradict);
    if (!orphaned && this.contradictions.length === 0) {
      if (head.leaves !== this.#leaves)
        contradict(
          "WRONG_LEAVES",
          `the pool's tree has ${this.#leaves} leaves at block ${head.block}, not ${head.leaves}`,
        );
      else this.#compareMask(head, contradict);
    }
    this.#state.roots.add(head);
    this.#previous = head;
  }

  #readTo(block: number): void {
    const { events } = this.#source;
    const start = this.#events;
    while (this.#events < events.length && events[this.#events]!.blockNumber <= block) {
      const event = events[this.#events]!;
      if (event.type === "appended") this.#leaves = event.startIndex + event.count;
      this.#events += 1;
    }
    this.#state.addEvents(events.slice(start, this.#events));
  }

  async #readLog(
    head: OriginHead,
    orphaned: boolean,
    contradict: (code: AuditCode, says: string) => void,
  ): Promise<void> {
    const { lines, verify } = this.#source;
    if (head.entries > lines.length) {
      contradict("WRONG_LOG", `the log has ${lines.length} entries, and the head covers ${head.entries}`);
      return;
    }
    for (; this.#entries < head.entries; this.#entries += 1) {
      const line = lines[this.#entries]!;
      const entry = readEntry(line);
      // Nobody can say which deposits an orphaned block had.
      const problem = entry === undefined ? "MALFORMED" : this.#problem(entry, orphaned);
      if (entry === undefined || problem !== undefined) {
        contradict("WRONG_ENTRY", `entry ${this.#entries} is not allowed there: ${problem}`);
        return;
      }
      if (entry.type === "claim") {
        this.#counts.claims += 1;
        if (!(await verify(entry.claim))) {
          contradict("WRONG_PROOF", `the proof of the claim in entry ${this.#entries} does not verify`);
          return;
        }
      }
      this.#log = chainLine(this.#log, line);
      this.#state.apply(entry);
    }
    if (head.log !== this.#log) contradict("WRONG_LOG", "its log is not the published one");
    else if (head.claims !== this.#state.claims)
      contradict("WRONG_LOG", `its log has ${this.#state.claims} claims, not ${head.claims}`);
  }

  /** Judgements that a later reorganization voids are about deposits that are no longer on the chain. */
  #problem(entry: LogEntry, orphaned: boolean): string | undefined {
    const judges = entry.type === "accept" || entry.type === "refuse";
    if (judges && (orphaned || this.#isVoided(entry.leaf))) return undefined;
    return this.#state.problemOf(entry);
  }

  #isVoided(leaf: number): boolean {
    return this.#reorgs.some((reorg) => reorg.entry > this.#entries && reorg.leaf <= leaf);
  }

  #compareMask(head: OriginHead, contradict: (code: AuditCode, says: string) => void): void {
    const covered = this.#state.mask.upTo(head.leaves);
    if (covered.root !== head.maskRoot) contradict("WRONG_MASK", `the mask root that follows is ${covered.root}`);
    else if (sha256Hex(encodeManifest(covered.chunks(head.leaves))) !== head.manifest)
      contradict("WRONG_MANIFEST", "its manifest is not that of the mask tree");
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
 * Whether two heads show that a curator told two stories: they are of one set, differ, and have one number or one time.
 */
export const contradictEachOther = ({ head: a }: SignedHead, { head: b }: SignedHead): boolean =>
  setId(a) === setId(b) && headDigest(a) !== headDigest(b) && (a.number === b.number || a.time === b.time);
