import type { ChainSource } from "@sotto/chain";
import type { Lease } from "@sotto/database";
import type { Address, Bytes32 } from "@sotto/protocol";
import type { ServiceLog } from "@sotto/server";
import type { JudgementEntry } from "../../core/log.ts";
import { depositorsOf } from "../follow/depositors.ts";
import type { CuratorMetrics } from "../ops/metrics.ts";
import type { SetWriter } from "../set/writer.ts";
import type { Db, Row } from "../store/schema.ts";
import type { CuratorStore } from "../store/store.ts";
import type { Deposit, Judge } from "./judge.ts";

export interface JudgingOptions {
  readonly store: CuratorStore;
  readonly writer: SetWriter;
  readonly judges: readonly Judge[];
  readonly chain: ChainSource;
  readonly place: { readonly pool: Address; readonly token: Address };
  readonly metrics: CuratorMetrics;
  readonly log: Pick<ServiceLog, "warn">;
  /** How long a round asks judges, ms; for tests. */
  readonly askingMs?: number | undefined;
  /** Now, ms. */
  readonly clock: () => number;
}

/** Deposits of one round. Heads wait for a round. */
const MAX_ROUND = 5_000;
/** Deposits that are loaded and judged together. */
const BATCH = 500;
/** Questions to one judge at once. */
const AT_ONCE = 16;
/** How long a round begins to ask judges, ms: the next head, and what a person or a list refuses, wait for it. */
const ASKING_MS = 10_000;
/** When a deposit is judged again whose judge failed, or whose depositor is not known, ms. */
const AGAIN_MS = 30_000;

/** Asks the judges about deposits, and appends what they say to the log. */
export class Judging {
  readonly #options: JudgingOptions;
  /** When deposits that wait are judged again, ms. */
  readonly #again = new Map<number, number>();
  /** Refused deposits that a person wants to be judged again. */
  #reopened: ReadonlySet<number> = new Set();
  readonly #stopping = new AbortController();
  /** Whether accepted deposits have to be compared with the lists. */
  #changed = true;

  constructor(options: JudgingOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const changed = (): void => {
      this.#changed = true;
      this.#again.clear();
    };
    const watch = (judge: Judge) => judge.start?.({ changed, failed: (error) => this.#failed(judge, error) });
    await Promise.all(this.#options.judges.map(watch));
  }

  /** Ends the running round early. */
  stop(): void {
    this.#stopping.abort();
    for (const judge of this.#options.judges) judge.stop?.();
  }

  /** Judges the deposits that are due. The caller has synced the set. */
  async round(lease: Lease): Promise<void> {
    await this.#takeVerdicts(lease);
    if (this.#changed) {
      this.#changed = false;
      await this.#refuseAgain(lease).catch((error: unknown) => {
        this.#changed = true;
        throw error;
      });
    }
    const due = this.#due();
    const end = performance.now() + (this.#options.askingMs ?? ASKING_MS);
    const isOver = () => this.#stopping.signal.aborted || performance.now() >= end;
    for (let i = 0; i < due.length && (i === 0 || !isOver()); i += BATCH)
      await this.#judge(lease, due.slice(i, i + BATCH), isOver);
  }

  /** Those that nobody was asked about come first, and then those that wait for the longest time: so all get their turn. */
  #due(): number[] {
    const { writer, clock } = this.#options;
    const now = clock();
    const unasked: number[] = [];
    const again: (readonly [leaf: number, at: number])[] = [];
    for (const leaf of [...this.#reopened, ...writer.replica.waiting]) {
      const at = this.#again.get(leaf);
      if (at === undefined) unasked.push(leaf);
      else if (at <= now) again.push([leaf, at]);
    }
    again.sort(([a, first], [b, second]) => first - second || a - b);
    return [...unasked, ...again.map(([leaf]) => leaf)].slice(0, MAX_ROUND);
  }

  /**
   * What a person said since the last round: a refusal counts at once. An acceptance of a refused deposit has it judged again, and
   * counts as handled only then.
   */
  async #takeVerdicts(lease: Lease): Promise<void> {
    const { store, writer, metrics } = this.#options;
    const rows = await store.db
      .selectFrom("origin_verdicts")
      .innerJoin("origin_leaves", "origin_leaves.leaf", "origin_verdicts.leaf")
      .select(["origin_verdicts.leaf", "verdict", "transaction_hash"])
      .where("handled", "=", 0)
      .orderBy("origin_verdicts.leaf")
      .execute();
    const isReopened = ({ leaf, verdict }: (typeof rows)[number]): boolean =>
      verdict === "accept" && writer.replica.state.judgement(leaf) === false;
    const reopened = new Set(rows.filter(isReopened).map(({ leaf }) => leaf));
    for (const leaf of reopened) if (!this.#reopened.has(leaf)) this.#again.delete(leaf);
    this.#reopened = reopened;
    const handled = rows.filter((row) => !isReopened(row));
    if (handled.length === 0) return;
    const refusals = handled.filter(({ verdict }) => verdict === "refuse");
    const appended = await writer.judge(
      lease,
      refusals.map((row) => judgementOf("refuse", row)),
      async (db) => {
        for (const { leaf, verdict } of handled) await markHandled(db, leaf, verdict);
      },
    );
    metrics.judged("person", "refuse", appended.length);
    for (const { leaf } of handled) this.#again.delete(leaf);
  }

  /** Refuses accepted deposits that a judge refuses since its list changed. */
  async #refuseAgain(lease: Lease): Promise<void> {
    const { store, writer, judges, metrics } = this.#options;
    const watching = judges.filter((judge) => judge.refuses !== undefined);
    if (watching.length === 0) return;
    for (let next = 0; ; ) {
      const rows = await store.db
        .selectFrom("origin_leaves")
        .select(["leaf", "depositor", "transaction_hash"])
        .where("leaf", ">=", next)
        .where("depositor", "is not", null)
        .orderBy("leaf")
        .limit(10_000)
        .execute();
      if (rows.length === 0) return;
      next = rows.at(-1)!.leaf + 1;
      const accepted = rows.filter(({ leaf }) => writer.replica.state.judgement(leaf) === true);
      for (const judge of watching) {
        const refused = accepted.filter(({ leaf, depositor }) =>
          judge.refuses!({ leaf, depositor: depositor as Address }),
        );
        if (refused.length === 0) continue;
        const entries = refused.map((row) => judgementOf("refuse", row));
        metrics.judged(judge.name, "refuse", (await writer.judge(lease, entries)).length);
        await writer.sync();
      }
    }
  }

  async #judge(lease: Lease, leaves: readonly number[], isOver: () => boolean): Promise<void> {
    const { writer, clock, metrics } = this.#options;
    const place = new Map(leaves.map((leaf, i) => [leaf, i]));
    const deposits = (await this.#load(lease, leaves)).sort((a, b) => place.get(a.leaf)! - place.get(b.leaf)!);
    const known = new Set(deposits.map(({ leaf }) => leaf));
    for (const leaf of leaves) if (!known.has(leaf)) this.#again.set(leaf, clock() + AGAIN_MS);
    const entries: JudgementEntry[] = [];
    const counts: [judge: string, verdict: "accept" | "refuse"][] = [];
    // One group at least, also if the database was slow: otherwise nobody would ever be asked.
    for (let i = 0; i < deposits.length && !(i === 0 ? this.#stopping.signal.aborted : isOver()); i += AT_ONCE)
      await Promise.all(
        deposits.slice(i, i + AT_ONCE).map(async (deposit) => {
          const { leaf, transaction } = deposit;
          const { verdict, judge, again } = await this.#ask(deposit);
          if (verdict === "wait") {
            this.#again.set(leaf, again);
            return;
          }
          counts.push([judge, verdict]);
          entries.push({ type: verdict, leaf, transaction });
        }),
      );
    entries.sort((a, b) => a.leaf - b.leaf);
    const reopened = entries.filter(({ leaf }) => this.#reopened.has(leaf));
    if (entries.length > 0)
      await writer.judge(lease, entries, async (db) => {
        for (const { leaf } of reopened) await markHandled(db, leaf, "accept");
      });
    for (const [judge, verdict] of counts) metrics.judged(judge, verdict, 1);
    for (const { leaf } of entries) this.#again.delete(leaf);
  }

  /** Asks the judges in their order, until one refuses. */
  async #ask(deposit: Deposit): Promise<{ verdict: "accept" | "refuse" | "wait"; judge: string; again: number }> {
    const { judges, clock, metrics } = this.#options;
    let again: number | undefined;
    for (const judge of judges) {
      try {
        const found = await judge.judge(deposit, this.#stopping.signal);
        if (found.verdict !== "wait") {
          if (found.verdict === "refuse") return { verdict: "refuse", judge: judge.name, again: 0 };
          continue;
        }
        again = Math.max(again ?? 0, found.again);
        if (found.error === undefined) metrics.judged(judge.name, "wait", 1);
        else this.#failed(judge, found.error);
      } catch (error) {
        again = Math.max(again ?? 0, clock() + AGAIN_MS);
        this.#failed(judge, error);
      }
    }
    if (again !== undefined) return { verdict: "wait", judge: "", again };
    return { verdict: "accept", judge: "all", again: 0 };
  }

  #failed({ name }: Judge, error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const { log, metrics } = this.#options;
    log.warn({ err: error, judge: name }, "a judge failed: deposits wait, and the last list stays in force");
    metrics.judged(name, "failed", 1);
  }

  /** The deposits at these leaves whose depositor is known. */
  async #load(lease: Lease, leaves: readonly number[]): Promise<Deposit[]> {
    const { store } = this.#options;
    const rows = await depositRows(store.db, leaves);
    const unknown = rows.filter(({ depositor }) => depositor === null);
    const found = unknown.length === 0 ? undefined : await this.#findDepositors(lease, unknown);
    return rows.flatMap((row) => {
      const depositor = row.depositor ?? found?.get(row.leaf);
      if (depositor === undefined) return [];
      const { leaf, amount, transaction_hash: transaction, timestamp } = row;
      return [
        {
          leaf,
          amount: BigInt(amount!),
          transaction: transaction as Bytes32,
          depositor: depositor as Address,
          timestamp: timestamp!,
        },
      ];
    });
  }

  async #findDepositors(lease: Lease, rows: readonly DepositRow[]): Promise<Map<number, Address>> {
    const { store, chain, place, log } = this.#options;
    const transactions = [...new Set(rows.map(({ transaction_hash }) => transaction_hash!))];
    const all = await store.db
      .selectFrom("origin_leaves")
      .selectAll()
      .where("transaction_hash", "in", transactions)
      .orderBy("leaf")
      .execute();
    const deposits = all.map((row) => ({
      leaf: row.leaf,
      amount: BigInt(row.amount!),
      transactionHash: row.transaction_hash!,
      logIndex: row.log_index!,
      blockNumber: row.block_number,
    }));
    const found = await depositorsOf(chain, place, deposits);
    if (found.size < deposits.length)
      log.warn({ leaves: deposits.length - found.size }, "the depositor of some deposits is not known; they wait");
    await store.lead(lease, async (db) => {
      for (const { leaf, transactionHash } of deposits)
        if (found.has(leaf))
          await db
            .updateTable("origin_leaves")
            .set({ depositor: found.get(leaf)! })
            .where("leaf", "=", leaf)
            .where("transaction_hash", "=", transactionHash)
            .execute();
    });
    return found;
  }
}

/** A judgement of the deposit in a row. */
const judgementOf = (
  type: JudgementEntry["type"],
  { leaf, transaction_hash }: Pick<Row<"origin_leaves">, "leaf" | "transaction_hash">,
): JudgementEntry => ({ type, leaf, transaction: transaction_hash as Bytes32 });

const markHandled = (db: Db, leaf: number, verdict: "accept" | "refuse") =>
  db
    .updateTable("origin_verdicts")
    .set({ handled: 1 })
    .where("leaf", "=", leaf)
    .where("verdict", "=", verdict)
    .execute();

type DepositRow = Awaited<ReturnType<typeof depositRows>>[number];

const depositRows = (db: Db, leaves: readonly number[]) =>
  db
    .selectFrom("origin_leaves")
    .selectAll()
    .where("leaf", "in", [...leaves])
    .where("amount", "is not", null)
    .orderBy("leaf")
    .execute();
