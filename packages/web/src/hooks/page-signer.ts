// Makes this browser's Ethereum wallets (EIP-6963) signers for the engine.
import { proxy } from "comlink";
import { createStore, type EIP6963ProviderDetail } from "mipd";
import { useSyncExternalStore } from "react";
import type { PageSigner } from "../engine/api.ts";
import { WebError } from "../errors.ts";

const store = createStore();
const subscribe = (listener: () => void) => store.subscribe(listener);

/** The wallets that announced themselves. */
export const useInjectedWallets = (): readonly EIP6963ProviderDetail[] =>
  useSyncExternalStore(subscribe, () => store.getProviders());

/** Asks a wallet for an account, and returns its signer. @throws WebError SIGNATURE_REFUSED when it is used */
export function signerOf({ provider, info }: EIP6963ProviderDetail): PageSigner {
  const ask = async (method: string, params: unknown[]): Promise<unknown> => {
    try {
      // The cast: mipd's types list methods with their parameters, and these two are among them.
      return await (provider as { request(call: { method: string; params: unknown[] }): Promise<unknown> }).request({
        method,
        params,
      });
    } catch (cause) {
      throw new WebError("SIGNATURE_REFUSED", `${info.name} did not sign`, {}, { cause });
    }
  };
  const address = async (): Promise<string> => {
    const accounts = await ask("eth_requestAccounts", []);
    if (Array.isArray(accounts) && typeof accounts[0] === "string") return accounts[0];
    throw new WebError("SIGNATURE_REFUSED", `${info.name} has no account for this page`);
  };
  return proxy({
    address,
    sign: async (typedData: string) => String(await ask("eth_signTypedData_v4", [await address(), typedData])),
  });
}
