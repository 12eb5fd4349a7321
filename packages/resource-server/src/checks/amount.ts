import { type AmountBounds, tryDecrypt, type Viewer } from "@sotto/protocol";
import { CheckFailed } from "./outcome.ts";
import type { Statement } from "./statement.ts";

/**
 * What was paid, base units, read with the recipient's viewing key out of the note that the payment makes.
 *
 * @throws CheckFailed AMOUNT for a note that cannot be read or is worth something else than was proven: then the proofs
 * prove nothing, as with development keys
 */
export function readAmount(viewer: Viewer, { header }: Statement, { lowerBound, upperBound }: AmountBounds): bigint {
  const [, , ephemeralX, , amountHint, , , recipientCommitment] = header.publicSignals as [...bigint[]];
  const delivered = { ephemeralX, amountHint, recipientCommitment } as Parameters<typeof tryDecrypt>[1];
  const amount = tryDecrypt(viewer, delivered)?.amount;
  if (amount === undefined || amount < lowerBound || amount > upperBound) throw new CheckFailed("AMOUNT");
  return amount;
}
