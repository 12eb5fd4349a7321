// Code of the thread that verifies the signatures of tokens and, in SQLite, spends those that are signed and stores what
// metered requests used, claims and swaps: each signature takes about a third of what a request costs otherwise, each commit waits
// for the disk, and a second connection that writes would wait for the first.
import { type KeyObject, verify } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";
import type { PREPAID_TOKEN_LAYOUT } from "../index.ts";
import type { CommitAnswer, CommitOrder } from "./commit-order.ts";
import type { ChargeUpdate, MeteredSpend } from "./metered/store.ts";
import { commitsIn } from "./metered/write-commits.ts";
import { carryOut } from "./thread.ts";

export interface SpenderData {
  /** Public keys by id, hex with 0x, of the type rsa-pss. */
  readonly keys: ReadonlyMap<string, KeyObject>;
  /** PREPAID_TOKEN_LAYOUT: this thread does not load the package. */
  readonly layout: typeof PREPAID_TOKEN_LAYOUT;
  /** Path of the SQLite database; undefined if this thread only verifies tokens. */
  readonly database: string | undefined;
}

export interface SpendOrder {
  /** Tokens as base64url, without anything in between: one text is cheaper to copy to this thread than many objects. */
  readonly tokens: string;
  /** Recorded with each token that this order spends. */
  readonly holder: string;
  /** Only if tokens pay for requests of metered routes: what to store with each, and the time, ms. */
  readonly metered?: { readonly now: number; readonly spends: readonly (MeteredSpend | undefined)[] } | undefined;
}

/** What requests used, for SQLite only. */
export interface ChargeOrder {
  /** At most one for each token. */
  readonly updates: readonly ChargeUpdate[];
  /** The time, ms. */
  readonly now: number;
}

export type ThreadOrder = SpendOrder | ChargeOrder | CommitOrder;

export interface OrderAnswer {
  /** Whether each token is signed. Empty for charges, claims and swaps. */
  readonly signed: readonly boolean[];
  /** Whether this order spent each token, or stored each update. Undefined without a database, or if it failed. */
  readonly done?: readonly boolean[];
  /** What became of claims and swaps. Undefined for others, or if the database failed. */
  readonly committed?: CommitAnswer;
  /** Why the database failed. */
  readonly failure?: string;
}

interface Token {
  readonly keyId: string;
  readonly nonce: string;
  readonly holder: string;
  readonly isSigned: boolean;
  readonly metered: (MeteredSpend & { readonly now: number }) | undefined;
}

const { keys, layout, database: path } = workerData as SpenderData;

/** Verifies the tokens of an order. @throws Error if a token's key is unknown */
function read({ tokens, holder, metered: { now, spends } = { now: 0, spends: [] } }: SpendOrder): Token[] {
  // The size of a token is a multiple of three bytes, so the texts join without padding.
  const all = Buffer.from(tokens, "base64url");
  return Array.from({ length: all.length / layout.end }, (_, i) => {
    const token = all.subarray(i * layout.end, (i + 1) * layout.end);
    const [input, signature] = [token.subarray(0, layout.signature), token.subarray(layout.signature)];
    const keyId = `0x${input.toString("hex", layout.keyId)}`;
    // Also false for a signature that is not below the modulus. The key names padding and salt itself: Node takes about
    // as long to read them from an object with options as to verify.
    const isSigned = verify("sha384", input, keys.get(keyId)!, signature);
    const nonce = input.toString("base64url", layout.nonce, layout.challengeDigest);
    const metered = spends[i];
    return { keyId, nonce, holder, isSigned, metered: metered && { ...metered, now } };
  });
}

/** What an order changes. */
type Work = { readonly tokens: readonly Token[] } | ChargeOrder | CommitOrder;

/** What it has changed. */
type Done = Pick<OrderAnswer, "done" | "committed">;

function openWriter(file: string) {
  const sqlite = process.getBuiltinModule("node:sqlite");
  const database = new sqlite.DatabaseSync(file);
  // FULL: a committed token survives a power cut. Another connection may hold the lock for a while.
  database.exec("pragma busy_timeout = 5000; pragma synchronous = full;");
  const insert = database.prepare(`
    insert into prepaid_token (key_id, nonce, holder, returns)
    select ?1, ?2, ?3, 0 where not exists (select 1 from prepaid_closed where prepaid_closed.key_id = ?1)
    on conflict do nothing`);
  const insertMetered = database.prepare(`
    insert into prepaid_metered
      (key_id, nonce, cap, rule, method, target, epoch, change_epoch, state, deadline, units, charge, holder)
    values (?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, '{}', '0', ?)`);
  const spendOne = ({ isSigned, keyId, nonce, holder, metered }: Token): boolean => {
    if (!isSigned || Number(insert.run(keyId, nonce, holder).changes) === 0) return false;
    if (metered === undefined) return true;
    const { cap, rule, method, target, epoch, changeEpoch, now, durationMs } = metered;
    insertMetered.run(keyId, nonce, cap, rule, method, target, epoch, changeEpoch, now + durationMs, holder);
    return true;
  };
  // The same condition as in MeteredStore.update.
  const updateMetered = database.prepare(`
    update prepaid_metered set state = ?1, units = ?2, charge = ?3
    where key_id = ?4 and nonce = ?5 and holder = ?6
    and (state = 'running' and deadline > ?7 or state = 'charged' and ?1 = 'charged' and units = ?2 and charge = ?3)`);
  const updateOne = ({ keyId, nonce, holder, units, charge, ends }: ChargeUpdate, now: number): boolean =>
    Number(updateMetered.run(ends ? "charged" : "running", units, charge, keyId, nonce, holder, now).changes) > 0;
  const commit = commitsIn(database);
  const carryOutOne = (work: Work): Done => {
    if ("tokens" in work) return { done: work.tokens.map(spendOne) };
    if ("actions" in work) return { committed: commit(work) };
    return { done: work.updates.map((update) => updateOne(update, work.now)) };
  };
  /** Carries out all orders in one durable transaction. */
  return (orders: readonly Work[]): Done[] => {
    database.exec("begin immediate");
    try {
      const done = orders.map(carryOutOne);
      database.exec("commit");
      return done;
    } catch (error) {
      rollBack(database);
      throw error;
    }
  };
}

/** A failed commit (a full disk) may have rolled back by itself. Node 22.13 has no `isTransaction` to check. */
function rollBack(database: DatabaseSync): void {
  try {
    database.exec("rollback");
  } catch {
    // The first error is thrown.
  }
}

let write: ReturnType<typeof openWriter> | undefined;

const isEmpty = (work: Work): boolean => "tokens" in work && !work.tokens.some(({ isSigned }) => isSigned);

carryOut((orders: readonly ThreadOrder[]): OrderAnswer[] => {
  const works = orders.map((order): Work => ("tokens" in order ? { tokens: read(order) } : order));
  const answers = works.map((work) => ({
    signed: "tokens" in work ? work.tokens.map(({ isSigned }) => isSigned) : [],
  }));
  if (path === undefined || works.every(isEmpty)) return answers;
  try {
    write ??= openWriter(path);
    const done = write(works);
    return answers.map((answer, i) => ({ ...answer, ...done[i] }));
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return answers.map((answer) => ({ ...answer, failure }));
  }
});
