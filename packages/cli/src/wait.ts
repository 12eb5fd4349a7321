import { setTimeout as sleep } from "node:timers/promises";
import { describeWaiting, WalletError, waitingOf } from "@sotto/client";
import { SottoError } from "@sotto/protocol";
import { type Session, scan } from "./session.ts";

const LOOK_MS = 500;

/** Options of commands that can wait for the chain. */
export const WAIT_OPTIONS = {
  wait: { value: "SECONDS", help: "longest time to wait for notes that can be spent; 0 for not at all", short: "w" },
} as const;

/**
 * Looks at the chain until `done` says so.
 * @throws CliError PENDING when the time is over: nothing is lost, it only takes longer
 */
export async function waitUntil(session: Session, seconds: number, what: string, done: () => boolean): Promise<void> {
  const { output, signal } = session.context;
  const { wallet } = session;
  const end = Date.now() + seconds * 1000;
  /** The newest block when the wait began. */
  let since: number | undefined;
  for (;;) {
    await scan(session);
    if (done()) return;
    since ??= wallet.height;
    if (Date.now() > end) {
      const waiting = waitingOf(wallet, since);
      const why = waiting.cause === "NONE" ? "" : `: ${describeWaiting(wallet, waiting)}`;
      const message = `${what} cannot be spent after ${seconds} s${why}; \`sotto balance\` shows when it can`;
      throw new SottoError("PENDING", message, { cause: waiting.cause });
    }
    output.progress(`waiting for ${what}`);
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/**
 * Tries `action` again while notes it needs are being confirmed, appended or given free by payments in flight.
 * @throws WalletError FUNDS_NOT_READY when the time is over
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
    await sleep(LOOK_MS, undefined, { signal });
  }
}
