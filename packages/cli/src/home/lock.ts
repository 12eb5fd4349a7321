import { closeSync, openSync } from "node:fs";
import { checkNodeVersion } from "@sotto/protocol/node-version";
import { CliError } from "../frame/errors.ts";

/** How long to wait for another command, which usually ends sooner. */
const TIMEOUT_MS = 2_000;

/**
 * Locks a wallet for this process: of two processes that spend the same note, one would fail. SQLite locks an empty file,
 * so the system releases the lock when the process ends.
 * @returns releases the lock
 * @throws CliError WALLET_BUSY, NODE_TOO_OLD
 */
export function lock(path: string): () => void {
  const problem = checkNodeVersion(process.versions.node);
  if (problem !== undefined) throw new CliError("NODE_TOO_OLD", problem);
  // An older Node could not load this module if it imported node:sqlite.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${TIMEOUT_MS}; BEGIN EXCLUSIVE`);
  } catch (cause) {
    database.close();
    const busy = (cause as { errcode?: number }).errcode === SQLITE_BUSY;
    if (!busy) throw cause;
    throw new CliError("WALLET_BUSY", "another sotto command is using this wallet: try again when it has ended", {});
  }
  return () => {
    if (database.isOpen) database.close();
  };
}

const SQLITE_BUSY = 5;
