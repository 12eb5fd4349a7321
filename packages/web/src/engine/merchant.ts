// The page's end of the merchant's worker.
import { CLOSED, type MerchantDesk, type MerchantState } from "./merchant-api.ts";
import { workerEnd } from "./worker-end.ts";

/** `merchantDesk()` starts the worker at the first use; `useMerchant()` returns its state. */
export const { start: merchantDesk, useState: useMerchant } = workerEnd<MerchantDesk, MerchantState>(
  "merchant",
  () => new Worker(new URL("./merchant.worker.ts", import.meta.url), { type: "module", name: "merchant" }),
  CLOSED,
  (problem, current) => ({ ...current, problem }),
);
