import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorDetails, SottoError } from "@sotto/protocol";
import { describeWaiting, WalletError, waitingOf } from "@sotto/wallet";
import { type Session, scan } from "./session.ts";

const POLL_INTERVAL_MS = 500;

/** Options of commands that can wait for the chain. */
export const WAIT_OPTIONS = {
  wait: { value: "SECONDS", help: "how long to wait for notes that can be spent; 0: do not wait", short: "w" },
} as const;

/**
 * Scans the chain until `done` returns true.
 * @throws SottoError PENDING at the deadline; the notes become spendable later
 */
export async function waitUntil(session: Session, seconds: number, what: string, done: () => boolean): Promise<void> {
  const { output, signal } = session.context;
  const { wallet } = session;
  const end = Date.now() + seconds * 1000;
  /** The newest block at the first scan. */
  let since: number | undefined;
  for (;;) {
    await scan(session);
    if (done()) return;
    since ??= wallet.height;
    if (Date.now() > end) {
      const waiting = waitingOf(wallet, since);
      const why = waiting.cause === "NONE" ? "" : `: ${describeWaiting(wallet, waiting)}`;
      throw pending(`${what} cannot be spent after ${seconds} s${why}`, { cause: waiting.cause });
    }
    output.progress(`waiting for ${what}`);
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}

/** Not an error of the command: the notes become spendable later. */
export const pending = (message: string, details: ErrorDetails): SottoError =>
  new SottoError("PENDING", `${message}; \`sotto balance\` shows when it can`, details);

/**
 * Retries `action` until the notes it needs are confirmed, appended or released by payments in flight.
 * @throws WalletError FUNDS_NOT_READY at the deadline
 */
export async function whenReady<T>({ context }: Session, seconds: number, action: () => Promise<T>): Promise<T> {
  const { output, signal } = context;
  for (const end = Date.now() + seconds * 1000; ; ) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== "FUNDS_NOT_READY" || Date.now() > end) throw error;
    }
    output.progress("waiting for notes that can be spent");
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}
