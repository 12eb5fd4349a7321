// What deposits and withdrawals share: the services they need, the queue and the wait.
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import type { PoolFacts } from "../pool/facts.ts";
import type { PoolState, ProofVerifier, RelayerPort } from "../ports.ts";
import type { EnqueueResult, Operation, Store } from "../store/index.ts";
import type { Admission } from "./admission.ts";
import type { Quotas } from "./budget.ts";
import type { Caller, Holds } from "./hold.ts";
import { quotaExceeded } from "./quotas.ts";
import { waitFor } from "./wait.ts";

export interface RelayServices {
  readonly config: Config & Quotas;
  readonly proofs: ProofVerifier;
  readonly pool: PoolState;
  readonly facts: PoolFacts;
  readonly store: Pick<Store, "operations" | "ledger" | "quotas">;
  readonly admission: Pick<Admission, "admit">;
  readonly relayer: RelayerPort;
  readonly holds: Holds;
  readonly clock: () => number;
}

/** @throws ServiceError NULLIFIER_QUEUED, NULLIFIER_SPENT, QUOTA_EXCEEDED */
export function assertQueued(result: EnqueueResult): Operation {
  if (result.kind === "exceeded") throw quotaExceeded(result.quota, result.resetAt);
  if (result.kind !== "taken") return result.operation;
  throw new ServiceError(result.reason, "another operation spends or spent one of its notes");
}

/**
 * Waits for a deposit or withdrawal, at most `config.relayWaitMs` unless its client chose another time. The operation
 * may be mined a day later, and every client that deposits or withdraws understands `pending`.
 */
export async function waitForRelayed(
  operation: Operation,
  caller: Caller,
  services: RelayServices,
): Promise<Operation> {
  const { asyncAfterMs = services.config.relayWaitMs } = caller;
  const hold = services.holds.enter(operation.id, { ...caller, asyncAfterMs });
  try {
    return await waitFor(operation, hold, caller, services);
  } finally {
    hold.leave();
  }
}
