import { closeSync, openSync } from "node:fs";
import { WalletError } from "../errors.ts";
import { assertNodeVersion } from "../node-version.ts";

/** Time to wait for another process, which often ends soon, ms. */
const TIMEOUT_MS = 2_000;
const SQLITE_BUSY = 5;

/**
 * Locks a wallet for this process, because if two processes spent the same note, one of them would fail. SQLite locks
 * an empty file, so the system releases the lock when the process ends.
 * @param path the lock's file, created if missing
 * @returns a function that releases the lock
 * @throws WalletError WALLET_BUSY, NODE_TOO_OLD
 */
export function lockFile(path: string): () => void {
  assertNodeVersion();
  // Not a static import, because an older Node would fail to load this module and print a stack trace.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${TIMEOUT_MS}; BEGIN EXCLUSIVE`);
  } catch (cause) {
    database.close();
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause;
    throw new WalletError("WALLET_BUSY", "another process is using this wallet: try again when it has ended", { path });
  }
  let isLocked = true;
  return () => {
    if (isLocked) database.close();
    isLocked = false;
  };
}
