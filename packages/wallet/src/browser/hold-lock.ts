import { WalletError } from "../errors.ts";

/** Time to wait for another tab, which may be closing, ms. */
const TIMEOUT_MS = 2_000;

/**
 * Locks a store for this tab or worker with a Web Lock, which the browser releases when the tab is closed.
 * @returns a function that releases the lock
 * @throws WalletError WALLET_BUSY
 */
export async function holdLock(name: string): Promise<() => void> {
  // Undefined in pages that were loaded without HTTPS, unless they come from this machine.
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  if (locks === undefined) return () => undefined;
  return new Promise((granted, refused) => {
    const hold = () => new Promise<void>((release) => granted(() => release()));
    locks.request(`${name}.lock`, { signal: AbortSignal.timeout(TIMEOUT_MS) }, hold).catch((cause: unknown) => {
      const message = "another tab is using this wallet: close it there and try again";
      refused(new WalletError("WALLET_BUSY", message, { store: name }, { cause }));
    });
  });
}
