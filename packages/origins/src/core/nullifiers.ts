import type { PoolEvent } from "@sotto/chain";

/** The nullifiers that an event shows. */
export function nullifiersOf(event: PoolEvent): readonly bigint[] {
  if (event.type === "settled") return [event.nullifier];
  return event.type === "withdrawn" ? event.nullifiers.filter((nullifier) => nullifier !== 0n) : [];
}
