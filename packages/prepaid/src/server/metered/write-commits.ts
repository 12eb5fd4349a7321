// Claims and swaps in SQLite, for the thread that writes: the same statements as MeteredStore has for PostgreSQL.
import type { DatabaseSync } from "node:sqlite";
import type { CommitAnswer, CommitOrder } from "../commit-order.ts";
import { isAhead, type Progress } from "../progress.ts";
import type { ClaimOutcome, StoredClaim, StoredSwap, SwapOutcome } from "./store.ts";

/**
 * Prepares the statements.
 * @returns carries out an order within a transaction; if the store was restored, it undoes the order alone
 */
export function commitsIn(database: DatabaseSync): (order: CommitOrder) => CommitAnswer {
  const closed = database.prepare("select 1 from prepaid_closed where key_id = ?");
  const isClosed = (keyIds: readonly string[]) => [...new Set(keyIds)].some((id) => closed.get(id) !== undefined);
  const charged = "where key_id = ? and nonce = ? and state = 'charged' returning receipt, batch, signatures";
  const updateReceipt = database.prepare(`update prepaid_metered set receipt = coalesce(receipt, ?) ${charged}`);
  const updateBatch = database.prepare(`
    update prepaid_metered set receipt = coalesce(receipt, ?), batch = coalesce(batch, ?),
      signatures = case when batch is null then ? else signatures end ${charged}`);
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
    const row =
      change === undefined
        ? updateReceipt.get(receipt, keyId, nonce)
        : updateBatch.get(receipt, change.batch, change.signatures, keyId, nonce);
    return row === undefined ? undefined : ({ ...row } as Exclude<ClaimOutcome, string>);
  };
  const swap = ({ hash, key_id, count, signatures, tokens }: StoredSwap): SwapOutcome => {
    if (isClosed([key_id, ...tokens.map(({ keyId }) => keyId)])) return "closed";
    // Nobody else writes during this transaction.
    if (tokens.some(({ keyId, nonce }) => token.get(keyId, nonce) !== undefined)) return "spent";
    for (const { keyId, nonce } of tokens) insertToken.run(keyId, nonce, `swap:${hash}`);
    insertSwap.run(hash, key_id, count, JSON.stringify(tokens.map(({ keyId }) => keyId)), signatures);
    return "made";
  };
  const hasWritten = (outcome: ClaimOutcome | SwapOutcome) => outcome === "made" || typeof outcome === "object";

  return ({ actions, known }) => {
    database.exec("savepoint prepaid_commit");
    const result = actions.map((action) => ("hash" in action ? swap(action) : claim(action)));
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
