import type { Operation } from "../store/index.ts";
import type { Outcome } from "./types.ts";

/** The outcome of an operation, as its client sees it. */
export function outcomeOf({ state, txHash = "0x", blockNumber = 0, reason }: Operation): Outcome {
  if (state === "settled") return { state, txHash, blockNumber };
  if (state === "failed" || state === "expired")
    return { state: "failed", txHash: "0x", blockNumber: 0, reason: reason ?? "EXPIRED" };
  return { state: "pending", txHash, blockNumber: 0 };
}
