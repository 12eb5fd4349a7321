import type { RelayerPort } from "../ports.ts";
import type { Operation, Store } from "../store/index.ts";
import type { Caller, Hold } from "./hold.ts";

export interface WaitServices {
  readonly store: Pick<Store, "operations">;
  readonly relayer: RelayerPort;
}

/** Waits until an operation's outcome is known, as long as `hold` allows. */
export async function waitFor(
  operation: Operation,
  hold: Hold,
  { gone }: Pick<Caller, "gone">,
  { store, relayer }: WaitServices,
): Promise<Operation> {
  if (isEnded(operation)) return operation;
  relayer.wake();
  await relayer.waitFor(operation.id, hold.waitMs(operation.validUntil), gone);
  return (await store.operations.get(operation.id)) ?? operation;
}

export const isEnded = ({ state }: Operation): boolean => state !== "queued" && state !== "broadcast";
