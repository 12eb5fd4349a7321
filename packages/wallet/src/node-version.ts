import { checkNodeVersion } from "@sotto/protocol/node-version";
import { WalletError } from "./errors.ts";

/**
 * Refuses a Node version without SQLite before anything loads SQLite; otherwise Node would print the stack trace of a
 * missing module.
 * @throws WalletError NODE_TOO_OLD
 */
export function assertNodeVersion(): void {
  const problem = checkNodeVersion(process.versions.node);
  if (problem !== undefined) throw new WalletError("NODE_TOO_OLD", problem);
}
