import { FetchError, openMethod, type WrapOptions } from "@sotto/client";
import type { Wallet } from "@sotto/wallet";
import { type OpenPrepaid, PrepaidMethod } from "./method.ts";

/**
 * Opens a wallet's prepaid tokens without a request.
 * @param options those of `wrapFetch`, with `prepaid` among the methods
 * @throws FetchError FETCH_OPTION_INVALID without `prepaid`
 */
export async function openPrepaid(send: typeof fetch, wallet: Wallet, options: WrapOptions): Promise<OpenPrepaid> {
  const method = options.methods?.find((each) => each instanceof PrepaidMethod);
  if (method === undefined) throw new FetchError("FETCH_OPTION_INVALID", "the option methods has no prepaid tokens");
  return openMethod(send, wallet, options, method).open();
}
