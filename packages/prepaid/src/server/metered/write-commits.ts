// Claims and swaps in SQLite, for the thread that writes: the same statements as MeteredStore has for PostgreSQL.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type CommitAnswer, type CommitOrder, type FailedAction, hasWritten } from "../commit-order.ts";
import { isAhead, type Progress } from "../progress.ts";
import type { ClaimOutcome, Stored, StoredClaim, StoredSwap, SwapOutcome } from "./store.ts";

/**
 * Prepares the statements.
 * @returns carries out an order within a transaction; if the store was restored, it undoes the order alone
 */
export function commitsIn(database: DatabaseSync): (order: CommitOrder) => CommitAnswer {
  const closed = database.prepare("select 1 from prepaid_closed where key_id = ?");
  const isClosed = (keyIds: readonly string[]) => [...new Set(keyIds)].some((id) => closed.get(id) !== undefined);
  const row = "where key_id = ? and nonce = ? and state = 'charged'";
  const find = database.prepare(`select receipt, batch, signatures from prepaid_metered ${row}`);
  const stored = "returning receipt, batch, signatures";
  const setReceipt = database.prepare(`update prepaid_metered set receipt = ? ${row} and receipt is null ${stored}`);
  const setBatch = database.prepare(`
    update prepaid_metered set receipt = coalesce(receipt, ?), batch = ?, signatures = ? ${row} and batch is null
    ${stored}`);
  const token = database.prepare("select 1 from prepaid_token where key_id = ? and nonce = ?");
  const insertToken = database.prepare(
    "insert into prepaid_token (key_id, nonce, holder, returns) values (?, ?, ?, 0)",
  );
  const insertSwap = database.prepare(
    "insert into prepaid_swap (hash, key_id, count, spent, signatures) values (?, ?, ?, ?, ?)",
  );
  const tick = database.prepare("update prepaid_progress set ticks = ticks + 1 returning store, ticks");

  const claim = ({ keyId, nonce, keyIds, receipt, change }: StoredClaim): ClaimOutcome => {
    if (isClosed(keyIds)) return "closed";
    const written =
      change === undefined
        ? setReceipt.get(receipt, keyId, nonce)
        : setBatch.get(receipt, change.batch, change.signatures, keyId, nonce);
    const found = (written ?? find.get(keyId, nonce)) as Stored | undefined;
    return found && { ...found, isNew: written !== undefined };
  };
  const swap = ({ hash, key_id, count, signatures, tokens }: StoredSwap): SwapOutcome => {
    if (isClosed([key_id, ...tokens.map(({ keyId }) => keyId)])) return "closed";
    // Nobody else writes during this transaction.
    if (tokens.some(({ keyId, nonce }) => token.get(keyId, nonce) !== undefined)) return "spent";
    for (const { keyId, nonce } of tokens) insertToken.run(keyId, nonce, `swap:${hash}`);
    insertSwap.run(hash, key_id, count, JSON.stringify(tokens.map(({ keyId }) => keyId)), signatures);
    return "made";
  };
  const [begin, undo, end] = ["savepoint prepaid_action", "rollback to prepaid_action", "release prepaid_action"].map(
    (text) => database.prepare(text),
  ) as [StatementSync, StatementSync, StatementSync];
  /** Of the writes of a swap, all happen or none. */
  const wholeSwap = (action: StoredSwap): SwapOutcome => {
    begin.run();
    try {
      return swap(action);
    } catch (error) {
      // If the database has undone everything by itself, this throws.
      undo.run();
      throw error;
    } finally {
      end.run();
    }
  };
  /** An action fails alone. A claim is one statement, which SQLite undoes by itself. */
  const act = (action: StoredClaim | StoredSwap): ClaimOutcome | SwapOutcome | FailedAction => {
    try {
      return "hash" in action ? wholeSwap(action) : claim(action);
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  };

  return ({ actions, known }) => {
    database.exec("savepoint prepaid_commit");
    const result = actions.map(act);
    let progress: Progress | undefined;
    let isRestored = false;
    if (result.some(hasWritten)) {
      const next = tick.get();
      progress = next && { store: String(next["store"]), ticks: Number(next["ticks"]) };
      isRestored = !isAhead(known, progress);
    }
    if (isRestored) database.exec("rollback to prepaid_commit");
    database.exec("release prepaid_commit");
    return isRestored ? "restored" : { result, progress };
  };
}
