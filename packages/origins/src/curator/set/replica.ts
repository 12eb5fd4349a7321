// A set as it follows from the database. Every replica computes the same one, also after a restart.
import type { Bytes32, PermuteMany } from "@sotto/protocol";
import { createTreeKernel } from "@sotto/prover/scan";
import { countShared } from "../../core/bitmap.ts";
import { decodeHead, type OriginHead, type SignedHead, type WireHead } from "../../core/head.ts";
import { decodeEntry, LOG_START } from "../../core/log.ts";
import { type MaskFiles, maskFiles } from "../../core/publish.ts";
import { SetState } from "../../core/set-state.ts";
import { CuratorError } from "../errors.ts";
import type { Db, Row } from "../store/schema.ts";
import { generationOf } from "../store/store.ts";
import { Rows } from "./rows.ts";

const PAGE = 10_000;

/** The last block that was read. */
export interface ReadBlock {
  readonly number: number;
  readonly hash: Bytes32;
  /** Unix time, seconds. */
  readonly timestamp: number;
}

interface NewHead {
  readonly number: number;
  readonly block_number: number;
  readonly on_chain: number;
  readonly entries: number;
  readonly content: string;
}

/** The newest head, and what it publishes. */
export interface Newest {
  readonly signed: SignedHead;
  /** Manifest and bitmaps. Undefined if the chain was reorganized since: the head's block is gone, and so is what it covered. */
  readonly files: MaskFiles["files"] | undefined;
  /** Leaves in the set that the head covers. */
  readonly members: number;
}

/**
 * Follows the database: events, entries and heads. Between two heads, the order of events and entries does not matter. After a
 * reorganization, it begins anew.
 */
export class Replica {
  readonly #permutation: PermuteMany | undefined;
  #generation = -1;
  state!: SetState;
  /** Leaves of deposits without a judgement. */
  waiting!: Set<number>;
  #commitments!: bigint[];
  /** Deposits that were read since the last sync ended. */
  #added!: number[];
  #spend!: { readonly block: number; readonly log: number };
  /** Number of heads. */
  #heads = 0;
  /** The last block that was read; undefined before the first. */
  block: ReadBlock | undefined;
  /** Number of leaves in the pool's tree at that block. */
  appended = 0;
  /** Number of entries of the log. */
  entries = 0;
  /** Value of the log's hash chain. */
  log: Bytes32 = LOG_START;
  newest: Newest | undefined;
  /** Number of entries of which `log` is the value. */
  #logged = 0;
  /** Grows with everything that was taken. */
  version = 0;

  private constructor(permutation: PermuteMany | undefined) {
    this.#permutation = permutation;
    this.#reset(-1);
  }

  static async create(): Promise<Replica> {
    return new Replica(await createTreeKernel());
  }

  #reset(generation: number): void {
    this.#generation = generation;
    this.version += 1;
    this.#commitments = [];
    this.state = new SetState((leaf) => this.#commitments[leaf]!, this.#permutation);
    this.waiting = new Set();
    this.#added = [];
    this.#spend = { block: -1, log: -1 };
    this.block = undefined;
    this.appended = 0;
    this.entries = 0;
    this.log = LOG_START;
    this.#logged = 0;
    this.#heads = 0;
    this.newest = undefined;
  }

  /**
   * Takes what is new. All reads must see one state of the database; without a change, it makes few of them.
   * @throws CuratorError ORIGIN_STORE_DAMAGED if the newest head's root does not follow from the database
   */
  async sync(db: Db): Promise<void> {
    const generation = await generationOf(db);
    if (generation !== this.#generation) this.#reset(generation);
    const block = await db
      .selectFrom("origin_blocks")
      .selectAll()
      .orderBy("number", "desc")
      .limit(1)
      .executeTakeFirst();
    if (block !== undefined && block.number !== this.block?.number) await this.#addLeaves(db);
    const spends = this.#newSpends(db);
    const entries = this.#newEntries(db);
    const heads = await this.#newHeads(db);
    for (const [index, head] of heads.entries()) {
      await this.#take(spends, entries, head);
      const isLast = index === heads.length - 1;
      if (isLast) await this.#readLog(db);
      this.#addHead(head, isLast);
    }
    await this.#take(spends, entries);
    // Only now: most deposits of a database that is read for the first time have their judgement.
    for (const leaf of this.#added.splice(0)) if (this.state.judgement(leaf) === undefined) this.waiting.add(leaf);
    await this.#readLog(db);
    this.block = block && { ...block, hash: block.hash as Bytes32 };
  }

  async #addLeaves(db: Db): Promise<void> {
    const rows = new Rows<Pick<Row<"origin_leaves">, "leaf" | "commitment" | "transaction_hash">>(() =>
      db
        .selectFrom("origin_leaves")
        .select(["leaf", "commitment", "transaction_hash"])
        .where("leaf", ">=", this.#commitments.length)
        .orderBy("leaf")
        .limit(PAGE)
        .execute(),
    );
    await rows.while(
      () => true,
      ({ leaf, commitment, transaction_hash: transactionHash }) => {
        this.#commitments.push(BigInt(commitment));
        this.version += 1;
        if (transactionHash === null) return;
        this.state.addEvents([{ type: "deposited", leafIndex: leaf, transactionHash }]);
        this.#added.push(leaf);
      },
    );
    const append = await db
      .selectFrom("origin_appends")
      .select("size")
      .orderBy("size", "desc")
      .limit(1)
      .executeTakeFirst();
    if (this.appended !== (append?.size ?? 0)) this.version += 1;
    this.appended = append?.size ?? 0;
  }

  #newSpends(db: Db) {
    return new Rows(() =>
      db
        .selectFrom("origin_spends")
        .selectAll()
        .where((row) =>
          row.or([
            row("block_number", ">", this.#spend.block),
            row.and([row("block_number", "=", this.#spend.block), row("log_index", ">", this.#spend.log)]),
          ]),
        )
        .orderBy("block_number")
        .orderBy("log_index")
        .limit(PAGE)
        .execute(),
    );
  }

  #newEntries(db: Db) {
    return new Rows(() =>
      db
        .selectFrom("origin_entries")
        .select(["number", "line"])
        .where("number", ">=", this.entries)
        .orderBy("number")
        .limit(PAGE)
        .execute(),
    );
  }

  async #newHeads(db: Db): Promise<NewHead[]> {
    const heads: NewHead[] = [];
    const rows = new Rows<NewHead>((last) =>
      db
        .selectFrom("origin_heads")
        .select(["number", "block_number", "on_chain", "entries", "content"])
        .where("number", ">=", last === undefined ? this.#heads : last.number + 1)
        .orderBy("number")
        .limit(PAGE)
        .execute(),
    );
    await rows.while(
      () => true,
      (head) => {
        heads.push(head);
      },
    );
    return heads;
  }

  /** Takes what came before a head, or everything. */
  async #take(spends: Rows<SpendRow>, entries: Rows<EntryRow>, until?: NewHead): Promise<void> {
    const { state } = this;
    await spends.while(
      ({ block_number }) => until === undefined || (until.on_chain === 1 && block_number <= until.block_number),
      ({ block_number, log_index, timestamp, nullifiers, leaf, outputs }) => {
        const values = nullifiers.split(",").map(BigInt);
        const place = { leafIndex: leaf, timestamp };
        state.addEvents([
          outputs === 2
            ? { type: "settled", nullifier: values[0]!, ...place }
            : { type: "withdrawn", nullifiers: values, commitment: BigInt(outputs), ...place },
        ]);
        this.#spend = { block: block_number, log: log_index };
        this.version += 1;
      },
    );
    await entries.while(
      ({ number }) => until === undefined || number < until.entries,
      ({ number, line }) => {
        const entry = decodeEntry(line);
        state.apply(entry);
        // A judgement of a deposit that a reorganization removed leaves the leaf's new deposit waiting.
        if (entry.type !== "claim" && state.judgement(entry.leaf) !== undefined) this.waiting.delete(entry.leaf);
        this.entries = number + 1;
        this.version += 1;
      },
    );
  }

  /** Reads the hash chain after the entries that were taken. */
  async #readLog(db: Db): Promise<void> {
    if (this.entries === this.#logged) return;
    const last = db
      .selectFrom("origin_entries")
      .select("chain")
      .where("number", "=", this.entries - 1);
    this.log = (await last.executeTakeFirstOrThrow()).chain as Bytes32;
    this.#logged = this.entries;
  }

  #addHead({ number, on_chain, content }: NewHead, isLast: boolean): void {
    const wire = JSON.parse(content) as WireHead;
    if (isLast) {
      const signed = decodeHead(wire);
      const { leaves } = signed.head;
      const files = on_chain === 1 ? this.#filesOf(signed.head) : undefined;
      const chunks = this.state.mask.upTo(leaves).chunks(leaves);
      this.newest = { signed, files, members: chunks.reduce((sum, { bitmap }) => sum + countShared([bitmap]), 0) };
    }
    const { maskRoot, blockTime } = wire;
    this.state.addHead({ maskRoot: BigInt(maskRoot), blockTime: Number(blockTime) }, on_chain === 1);
    this.#heads = number + 1;
  }

  /** What the newest head publishes. @throws CuratorError ORIGIN_STORE_DAMAGED */
  #filesOf({ number, leaves, maskRoot, manifest, log }: OriginHead): MaskFiles["files"] {
    const found = maskFiles(this.state.mask, leaves);
    if (found.maskRoot === maskRoot && found.manifest === manifest && this.log === log) return found.files;
    throw new CuratorError(
      "ORIGIN_STORE_DAMAGED",
      `head ${number} has another mask root or log than those that follow from the database`,
      { number },
    );
  }

  /** The newest head, without its signature. */
  get head(): OriginHead | undefined {
    return this.newest?.signed.head;
  }
}

type SpendRow = {
  block_number: number;
  log_index: number;
  timestamp: number;
  nullifiers: string;
  leaf: number;
  outputs: number;
};
type EntryRow = { number: number; line: string };
