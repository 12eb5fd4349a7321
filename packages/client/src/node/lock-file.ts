import { closeSync, openSync } from "node:fs";
import { WalletError } from "../errors.ts";
import { assertNodeVersion } from "../node-version.ts";

/** How long to wait for another process, which often ends soon, ms. */
const TIMEOUT_MS = 2_000;
const SQLITE_BUSY = 5;

/**
 * Locks a wallet for this process: of two processes that spend the same note, one would fail. SQLite locks an empty file,
 * so the system releases the lock when the process ends.
 * @param path the lock's file, created if missing
 * @returns releases the lock
 * @throws WalletError WALLET_BUSY, NODE_TOO_OLD
 */
export function lockFile(path: string): () => void {
  assertNodeVersion();
  // Not a static import: an older Node would fail to load this module, with a stack trace.
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
