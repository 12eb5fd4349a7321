import { WalletError } from "@sotto/wallet";

/** Longest delay of a timer, ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs an action later, unless the process ends before: every step is stored, so the next process resumes it. */
export function runLater(ms: number, action: () => void): void {
  const delay = Math.min(Math.max(0, ms), MAX_TIMER_MS);
  const timer = setTimeout(action, delay) as ReturnType<typeof setTimeout> & { unref?: () => void };
  timer.unref?.();
}

/** Whether an action failed because the wallet was closed: then it is not tried again. */
export const isClosed = (error: unknown): boolean =>
  error instanceof WalletError && ["WALLET_CLOSED", "STORE_CLOSED"].includes(error.code);
