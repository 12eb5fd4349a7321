import { closeSync, openSync } from "node:fs";
import { checkNodeVersion } from "@sotto/protocol/node-version";
import { CliError } from "../frame/errors.ts";

/** How long another command is waited for, ms: most end sooner. */
const PATIENCE_MS = 2_000;

/**
 * Takes a wallet for this process: two that choose notes at once would make payments of which one fails. The lock is
 * SQLite's on an empty file, so the system frees it however the process ends.
 * @returns what gives it free again
 * @throws CliError WALLET_BUSY, NODE_TOO_OLD
 */
export function lock(path: string): () => void {
  const problem = checkNodeVersion(process.versions.node);
  if (problem !== undefined) throw new CliError("NODE_TOO_OLD", problem);
  // Not imported: an older Node would not even load this module, and say so with a stack trace.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}; BEGIN EXCLUSIVE`);
  } catch (cause) {
    database.close();
    const busy = (cause as { errcode?: number }).errcode === SQLITE_BUSY;
    if (!busy) throw cause;
    throw new CliError("WALLET_BUSY", "another sotto command is using this wallet: try again when it is done", {});
  }
  return () => {
    if (database.isOpen) database.close();
  };
}

const SQLITE_BUSY = 5;
