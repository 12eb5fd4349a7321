// The page's end of the merchant's worker.
import { proxy, wrap } from "comlink";
import { useSyncExternalStore } from "react";
import { CLOSED, type MerchantDesk, type MerchantState } from "./merchant-api.ts";

let worker: MerchantDesk | undefined;
let current = CLOSED;
const listeners = new Set<() => void>();

function publish(state: MerchantState): void {
  current = state;
  for (const listener of listeners) listener();
}

function start(): MerchantDesk {
  const started = new Worker(new URL("./merchant.worker.ts", import.meta.url), { type: "module", name: "merchant" });
  const remote = wrap<MerchantDesk>(started) as unknown as MerchantDesk;
  started.addEventListener("error", ({ message }) => {
    const problem = { code: "APP_FAILED", message: message || "the merchant's worker failed", details: {} };
    publish({ ...current, problem });
  });
  void remote.subscribe(proxy(publish));
  return remote;
}

/** Starts the worker at the first use. */
export const merchantDesk = (): MerchantDesk => {
  worker ??= start();
  return worker;
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useMerchant = (): MerchantState => useSyncExternalStore(subscribe, () => current);
