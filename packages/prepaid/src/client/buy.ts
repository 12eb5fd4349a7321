import type { WrapOptions } from "@sotto/client";
import type { Wallet } from "@sotto/wallet";
import { describePack, type PrepaidPackInfo } from "./list.ts";
import { openPrepaid } from "./open.ts";
import type { PackWish, RestoreOptions } from "./packs.ts";

/**
 * Buys a pack of prepaid tokens, or finishes one that was begun: 100 tokens for the first pack at a host, later 1000 if
 * that is within the limits. The same call resumes after a crash and never pays twice for a pack.
 * @param options those of `wrapFetch`, with `prepaid` among the methods
 * @throws PrepaidError; FetchError; PurchaseError; ServiceClientError; WalletError; the signal's reason
 */
export async function buyPrepaid(
  send: typeof fetch,
  wallet: Wallet,
  options: WrapOptions,
  wish: PackWish,
): Promise<PrepaidPackInfo> {
  const { book, packs } = await openPrepaid(send, wallet, options);
  return describePack(book, await packs.buy(wish));
}

/**
 * Finds the packs that this wallet bought at an origin before it was restored from its words, and asks for their
 * signatures again. Pays nothing. After every ten packs, `confirmMore` decides whether to look for more.
 * @throws PrepaidError; FetchError FETCH_OPTION_INVALID
 */
export async function restorePrepaid(
  send: typeof fetch,
  wallet: Wallet,
  options: WrapOptions,
  origin: string,
  restoring: RestoreOptions = {},
): Promise<PrepaidPackInfo[]> {
  const { book, packs } = await openPrepaid(send, wallet, options);
  return (await packs.restore(origin, restoring)).map((pack) => describePack(book, pack));
}
