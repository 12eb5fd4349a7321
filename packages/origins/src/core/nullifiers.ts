import type { AppendedEvent, DepositedEvent, SettledEvent, WithdrawnEvent } from "@sotto/chain";

/** What tells the nullifiers of an event. */
type SpendingEvent =
  | Pick<SettledEvent, "type" | "nullifier">
  | Pick<WithdrawnEvent, "type" | "nullifiers">
  | Pick<DepositedEvent | AppendedEvent, "type">;

/** The nullifiers that an event shows. */
export function nullifiersOf(event: SpendingEvent): readonly bigint[] {
  if (event.type === "settled") return [event.nullifier];
  return event.type === "withdrawn" ? event.nullifiers.filter((nullifier) => nullifier !== 0n) : [];
}
